r"""FiGURe: one encoder, trained on every filter of a bank by mutual information."""

import logging
import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.errors import UserError
from figure_kedro.filters import SparseOperator
from figure_kedro.graph import Graph
from figure_kedro.methods.decoupled import DecoupledObjective
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.features import FeatureMatrix, is_sparse
from figure_kedro.methods.full import FullObjective, is_filtering_features_cheaper
from figure_kedro.methods.method import Allocate, Method
from figure_kedro.methods.sampled import SampledObjective
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.training.device import available_memory
from figure_kedro.training.loop import Objective

logger = logging.getLogger(__name__)

MEMORY_SHARE = 0.7
"""Share of the free memory that a whole-graph step may take before the decoupled strategy is chosen."""


class Figure(Method):
    """FiGURe, from "FiGURe: Simple and Efficient Unsupervised Node Representations with Filter Augmentations" (Ekbote
    et al., 2023): the views are the filters of the bank, the identity included, which is left out of training.

    The method ``untrained`` is its encoder as it is drawn.
    """

    chance_loss = math.log(2)

    @property
    def views(self) -> tuple[str, ...]:
        return self.bank.names

    def build(self, num_nodes: int, num_features: int) -> FigureModel:
        model = FigureModel(num_features, self.settings.dim, self.bank, self.settings.encoder, self.generator())
        if not model.trained:
            raise UserError("all filters of the bank are identities, so there is nothing to train; raise filters.size")
        return model

    def objective(
        self, model: FigureModel, graph: Graph, matrix: sp.csr_array, device: torch.device, allocate: Allocate | None
    ) -> Objective | None:
        """The objective of the strategy that the settings name or memory suggests."""
        settings = self.settings
        if settings.method == "untrained":
            return None
        strategy = choose_strategy(graph, matrix, model, settings, device)
        if strategy == "sampled":
            return SampledObjective(model, graph.features, matrix, self.bank, settings.sampled, not graph.directed)
        if strategy == "decoupled":
            seed = settings.training.seed
            return DecoupledObjective(model, graph.features, matrix, self.bank, settings.decoupled, seed, allocate)
        operator = SparseOperator(matrix, symmetric=not graph.directed, device=device)
        return FullObjective(model, FeatureMatrix(graph.features, device), operator, self.bank)

    def embed(self, model: FigureModel, graph: Graph, matrix: sp.csr_array) -> Iterator[np.ndarray]:
        operator = SparseOperator(matrix, symmetric=True)  # never differentiated: the transpose is not needed
        for block in model.embed(FeatureMatrix(graph.features), operator, self.bank):
            yield block.numpy()


def estimate_memory(graph: Graph, matrix: sp.csr_array, model: FigureModel, settings: RepresentationSettings) -> int:
    """Bytes that a step on the whole graph needs beside the graph itself.

    In blocks of ``2 d`` columns: the gradient of each filter, two more for each further layer, the results of the
    products forward and backward, and the bank's working blocks. Where features are filtered first, one result
    serves all filters, and the blocks that are filtered have the features' columns.
    """
    n, f = graph.features.shape
    trained, products = len(model.trained), model.products
    if _filters_features(graph, matrix, model, settings):
        columns = (trained + 2) * 2 * settings.dim + (2 * trained + products + 2) * (f + 1)
    else:
        blocks = trained * (2 * settings.encoder.gcn_layers - 1) + 2 * products + model.working_blocks
        columns = blocks * 2 * settings.dim
    weights = 8 * (f + settings.dim) * settings.dim * len(model.encoders)
    return 4 * (n * columns + weights) + 12 * matrix.nnz


def _filters_features(graph: Graph, matrix: sp.csr_array, model: FigureModel, settings: RepresentationSettings) -> bool:
    dense = not is_sparse(graph.features)
    return dense and model.linear and is_filtering_features_cheaper(graph.features.shape, settings.dim, matrix.nnz)


def choose_strategy(
    graph: Graph, matrix: sp.csr_array, model: FigureModel, settings: RepresentationSettings, device: torch.device
) -> str:
    """Resolve ``auto``, and say what was chosen and why."""
    need, free = estimate_memory(graph, matrix, model, settings), available_memory(device)
    size = f"a whole-graph step takes about {need / 2**30:.2f} GiB of {free / 2**30:.1f} GiB free"
    strategy = settings.strategy
    sparse_products = device.type != "mps"  # torch has none there
    if strategy != "decoupled" and not sparse_products and not (strategy == "auto" and model.linear):
        raise UserError("on 'mps' only the decoupled strategy with a one-layer shared encoder can train; use 'cpu'")
    if strategy == "auto":
        fits = sparse_products and need < MEMORY_SHARE * free
        strategy = "full" if fits or not model.linear else "decoupled"
        if not fits and strategy == "full":
            size += "; a deeper or unshared encoder has no other whole-graph way, so it is tried all the same"
        logger.info("strategy %s on %s: %s", strategy, device, size)
    else:
        logger.info("strategy %s on %s, as asked for (%s)", strategy, device, size)
    if strategy == "decoupled":
        copies = (1 + max(1, settings.decoupled.corruptions)) * len(model.trained)
        stored = 4 * copies * graph.num_nodes * (graph.num_features + 1)
        logger.info("the propagated rows take %.2f GiB", stored / 2**30)
    return strategy
