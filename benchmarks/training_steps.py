"""One training epoch of FiGURe and of those that it is compared with, each as a function without arguments."""

import importlib.util
import time
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np
import scipy.sparse as sp
import torch

from benchmarks.graphs import ROOT
from benchmarks.measure import Timing, timing
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.full import FullObjective
from figure_kedro.methods.kinds.figure import Figure, FigureSettings
from figure_kedro.training.loop import TrainingObjective

FILTERS = BANKS.parse({"bank": "monomial", "size": 4})
BANK = BANKS.build(FILTERS)
"""The paper's default: ``I, A, A^2, A^3``, of which the last three are trained."""

LEARNING_RATE = 1e-3

Epoch = Callable[[], None]

warnings.filterwarnings("ignore", message="Sparse invariant checks are implicitly disabled")  # by PyTorch Geometric


def model_of(graph: Graph, dim: int) -> FigureModel:
    """Fresh weights for a graph."""
    return Figure(FigureSettings(dim=dim), BANK).build(graph.num_nodes, graph.num_features)


def full_objective(graph: Graph, dim: int, operator: Operator | None = None) -> FullObjective:
    """FiGURe on the whole graph, as training sets it up."""
    operator = operator or Operator.of(graph, FILTERS)
    return FullObjective(model_of(graph, dim), FeatureMatrix(graph.features), operator.on(), BANK)


def objective_epoch(objective: TrainingObjective) -> Epoch:
    """An epoch of what is minimised, with the optimiser of the training loop."""
    optimiser = torch.optim.Adam(objective.module.parameters(), lr=LEARNING_RATE, fused=True)
    generator = torch.Generator().manual_seed(0)

    def epoch() -> None:
        for loss in objective.losses(0, generator):
            _step(optimiser, loss)

    return epoch


def pyg_epoch(graph: Graph, dim: int, *, sparse: bool = False) -> Epoch:
    """An epoch of PyTorch Geometric's ``DeepGraphInfomax`` with one ``GCNConv``, set up as in its own example.

    Args:
        graph: With features, which are made dense.
        dim: Of the embedding.
        sparse: Hand over the edges as a sparse CSR matrix, not as a list of pairs.
    """
    from torch_geometric.nn import DeepGraphInfomax, GCNConv  # slow to import, and the child processes do without

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = GCNConv(graph.num_features, dim, cached=True)
            self.activation = torch.nn.PReLU(dim)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            return self.activation(self.convolution(x, edges))

    features = dense_features(graph)
    if sparse:
        parts = (graph.adjacency.indptr, graph.adjacency.indices, graph.adjacency.data.astype(np.float32))
        edges = torch.sparse_csr_tensor(
            *map(torch.from_numpy, parts), size=graph.adjacency.shape, check_invariants=False
        )
    else:
        edges = torch.from_numpy(np.stack(graph.adjacency.nonzero()).astype(np.int64))
    module = DeepGraphInfomax(
        dim,
        Encoder(),
        summary=lambda z, *args, **kwargs: z.mean(dim=0).sigmoid(),
        corruption=lambda x, edges: (x[torch.randperm(len(x))], edges),
    )
    optimiser = torch.optim.Adam(module.parameters(), lr=LEARNING_RATE)

    def epoch() -> None:
        positive, negative, summary = module(features, edges)
        _step(optimiser, module.loss(positive, negative, summary))

    return epoch


def literal_epoch(graph: Graph, dim: int) -> Epoch:
    """An epoch of the literal rendering of the paper's equations that the tests hold the fast one against."""
    oracle = _oracle()
    model = model_of(graph, dim)
    adjacency = torch.from_numpy(graph.adjacency.toarray()).float()
    filters = oracle.dense_filters(oracle.dense_operator(adjacency, self_loops=True), "monomial", BANK.size)
    features = dense_features(graph)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)
    generator = torch.Generator().manual_seed(0)

    def epoch() -> None:
        order = torch.randperm(len(features), generator=generator)
        _step(optimiser, oracle.oracle_loss(model, features, filters, order))

    return epoch


def in_turn(functions: Mapping[str, Epoch], least: int, budget: float = 0.5) -> dict[str, Timing]:
    """Time several functions in turn (a, b, a, b, ...), often if they are quick, after one call that is not counted.

    Args:
        functions: By name.
        least: Counted calls of each, at least.
        budget: Seconds that are spent at least, up to 50 calls of each.
    """
    for function in functions.values():
        function()
    runs: dict[str, list[float]] = {name: [] for name in functions}
    started, rounds = time.perf_counter(), 0
    while rounds < least or (rounds < 50 and time.perf_counter() - started < budget):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            runs[name].append(time.perf_counter() - start)
        rounds += 1
    return {name: timing(values) for name, values in runs.items()}


def dense_features(graph: Graph) -> torch.Tensor:
    """The features as a dense tensor ``(n, f)``."""
    features = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    return torch.tensor(features, dtype=torch.float32)


def _step(optimiser: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    loss.item()


def _oracle() -> ModuleType:
    # by path: any installed package may be called tests, and ours is none
    spec = importlib.util.spec_from_file_location("oracle", ROOT / "tests" / "oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
