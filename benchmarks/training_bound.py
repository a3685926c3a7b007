"""An epoch of training beside the bound that memory traffic sets."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch

from benchmarks.graphs import published_graphs
from benchmarks.measure import copy_bandwidth, use_threads
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import BANK, FILTERS, full_objective, in_turn, objective_epoch
from figure_kedro.filters import Operator, SparseOperator
from figure_kedro.graph import Graph
from figure_kedro.methods.features import FeatureMatrix

NOTE = """
The bound: a sparse product of a matrix with `z` stored entries and `r` rows by a block of `w` columns moves
`8 z` bytes (an index and a value for each entry), `4 z w` (for each entry a row of the block is gathered) and `4 r w`
(the result). With `n` nodes, `m` entries of `A + I`, `f` features of which `x` are not zero, and `d` dimensions, the
sparse products of an epoch over the filters `A, A^2, A^3` are

- order "weights first" (many or sparse features): `z = m, r = n, w = 2 d` six times, three forward and three backward,
  true and corrupted side by side; and, if the features are sparse, `z = x, w = d` once with `r = n` forward and once
  with `r = f` backward;
- order "filters first" (few dense features): `z = m, r = n, w = f + 1` three times, for the corrupted features.

The bytes are divided by the bandwidth of a plain copy (bytes read and written) of an array as large as one block,
`4 r w` of the filters' products, with the same number of threads, measured in the same process right after. Blocks
smaller than the cache are copied, and gathered, from there. arXiv stands for its 169,343 nodes and edges with 128
dense features drawn at random, whose values do not matter for the time.

- products, epoch: seconds (medians) of those products alone, and of the whole epoch: products, activation, loss,
  gradients, Adam and, where the features are dense, the dense products with the weights. The two are timed in turn.
- products / bound, epoch / bound: those over the seconds of the bound. An epoch with filters first is mostly dense
  products, which this bound does not count; that it is the better order all the same shows in the last column.
- epoch / bound of weights first: the epoch over the bound that it would have in the other order.
"""

GRAPHS = ("pubmed", "squirrel", "arXiv")
DIMS = (128, 512)
FEATURES = 128


def run(settings: Settings) -> pd.DataFrame:
    """Measure products and epochs."""
    rows = Rows()
    for graph in published_graphs(GRAPHS, settings.small):
        if graph.features is None:
            features = np.random.default_rng(0).standard_normal((graph.num_nodes, FEATURES), dtype=np.float32)
            graph = graph.with_features(features)
        for threads in settings.threads:
            for dim in (8,) if settings.small else DIMS:
                with use_threads(threads):
                    row = _measure(graph, dim, threads, settings.repeat)
                rows.add({"graph": graph.name, "threads": threads, "dim": dim} | row)
    return rows.frame()


def _measure(graph: Graph, dim: int, threads: int, repeat: int) -> dict[str, float | str]:
    objective = full_objective(graph, dim)
    operator = Operator.of(graph, FILTERS).on()
    features = FeatureMatrix(graph.features)
    width, times = 2 * dim, 2 * (BANK.size - 1)
    moved = weights_first = times * product_bytes(operator.nnz, graph.num_nodes, width) + (
        sum(product_bytes(features.nnz, rows, dim) for rows in features.shape) if features.sparse else 0
    )
    if objective.filter_first:
        width, times = graph.num_features + 1, BANK.size - 1
        moved = times * product_bytes(operator.nnz, graph.num_nodes, width)
    products = _products(operator, features, width, times, dim)
    taken = in_turn({"products": products, "epoch": objective_epoch(objective)}, repeat)
    bandwidth = copy_bandwidth(threads, max(repeat, 20), 4 * graph.num_nodes * width)
    bound = moved / bandwidth
    return {
        "order": "filters first" if objective.filter_first else "weights first",
        "MB moved": moved / 1e6,
        "copy GB/s": bandwidth / 1e9,
        "bound": bound,
        "products": taken["products"].median,
        "epoch": taken["epoch"].median,
        "products / bound": taken["products"].median / bound,
        "epoch / bound": taken["epoch"].median / bound,
        "epoch / bound of weights first": taken["epoch"].median * bandwidth / weights_first,
    }


def product_bytes(entries: int, rows: int, width: int) -> int:
    """Bytes that a sparse product moves: the matrix, the gathered rows, the result."""
    return 8 * entries + 4 * entries * width + 4 * rows * width


def _products(
    operator: SparseOperator, features: FeatureMatrix, width: int, times: int, dim: int
) -> Callable[[], None]:
    generator = torch.Generator().manual_seed(0)
    block = torch.randn(features.shape[0], width, generator=generator)
    weights = torch.randn(features.shape[1], dim, generator=generator, requires_grad=True)
    gradient = torch.randn(features.shape[0], dim, generator=generator)

    def products() -> None:
        if features.sparse:
            torch.autograd.grad(features @ weights, weights, gradient)  # one product, and one with the transpose
        for _ in range(times):
            operator(block)

    return products
