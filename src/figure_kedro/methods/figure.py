r"""FiGURe: one encoder, trained on every filter of a bank by mutual information."""

import hashlib
import logging
import math
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.errors import UserError
from figure_kedro.filters import FilterBank, SparseOperator
from figure_kedro.graph import Graph
from figure_kedro.methods.decoupled import Allocate, DecoupledObjective
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.features import FeatureMatrix, is_sparse
from figure_kedro.methods.full import FullObjective, is_filtering_features_cheaper
from figure_kedro.methods.sampled import SampledObjective
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.training.device import available_memory, pick_device, set_threads
from figure_kedro.training.loop import CheckpointStore, Listener, Objective, TrainingRecord, train

logger = logging.getLogger(__name__)

MEMORY_SHARE = 0.7
"""Share of the free memory that a whole-graph step may take before the decoupled strategy is chosen."""


def build_model(num_features: int, bank: FilterBank, settings: RepresentationSettings) -> FigureModel:
    """A model with freshly drawn weights; the same seed gives the same weights."""
    generator = torch.Generator().manual_seed(settings.training.seed)
    model = FigureModel(num_features, settings.dim, bank, settings.encoder, generator)
    if not model.trained:
        raise UserError("every filter of the bank is the identity, so there is nothing to train; raise filters.size")
    return model


def train_figure(
    graph: Graph,
    matrix: sp.csr_array,
    bank: FilterBank,
    settings: RepresentationSettings,
    *,
    checkpoints: CheckpointStore | None = None,
    listeners: Iterable[Listener] = (),
    allocate: Allocate | None = None,
) -> tuple[FigureModel, TrainingRecord]:
    """Train "FiGURe: Simple and Efficient Unsupervised Node Representations with Filter Augmentations" (Ekbote et
    al., 2023) on a graph, without its labels.

    Args:
        graph: With features.
        matrix: Its normalised adjacency.
        bank: The filters; identities are left out of training.
        settings: Of the method.
        checkpoints: Where a killed run is taken up again.
        listeners: Told of every epoch.
        allocate: Makes the arrays of the decoupled strategy, see :class:`DecoupledObjective`.

    Returns:
        The model on the CPU with the weights of the lowest training loss, and what happened on the way.
    """
    if graph.features is None:
        raise UserError(f"{graph.name} has no features; set features.structural to svd")
    device = pick_device(settings.training.device, sparse_products=settings.strategy != "decoupled")
    set_threads(settings.training.threads)
    model = build_model(graph.num_features, bank, settings).to(device)
    if settings.method == "untrained":
        return model.cpu(), TrainingRecord(finished=True)
    strategy = choose_strategy(graph, matrix, model, settings, device)
    objective = _objective(strategy, graph, matrix, bank, model, settings, device, allocate)
    machine = (strategy, str(device), torch.get_num_threads())  # weights depend on these too, to the last bit
    fingerprint = _fingerprint(graph, matrix, bank, settings, machine)
    record = train(
        objective,
        settings.training,
        device=device,
        checkpoints=checkpoints,
        fingerprint=fingerprint,
        listeners=listeners,
    )
    if record.best_loss > 0.99 * math.log(2):
        logger.warning(
            "the loss never fell below log 2, its value by chance (lowest %.4f at epoch %d): these embeddings are "
            "hardly better than untrained ones; try another representation.training.learning_rate",
            record.best_loss,
            record.best_epoch,
        )
    return model.cpu(), record


def embed(model: FigureModel, graph: Graph, matrix: sp.csr_array, bank: FilterBank) -> Iterable[np.ndarray]:
    """Rebuild the embeddings ``(n, d)`` of a graph under every filter from the weights, one at a time."""
    operator = SparseOperator(matrix, symmetric=True)  # never differentiated: the transpose is not needed
    for block in model.embed(FeatureMatrix(graph.features), operator, bank):
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


def _fingerprint(
    graph: Graph,
    matrix: sp.csr_array,
    bank: FilterBank,
    settings: RepresentationSettings,
    machine: tuple[str, str, int],
) -> str:
    """Of everything that the weights depend on; the entries of the matrix tell whether it has self-loops."""
    digest = hashlib.sha256(np.ascontiguousarray(matrix.data).view(np.uint8))
    digest.update(repr((graph.checksum(), bank.names, settings.model_dump_json(), machine)).encode())
    return digest.hexdigest()


def _objective(
    strategy: str,
    graph: Graph,
    matrix: sp.csr_array,
    bank: FilterBank,
    model: FigureModel,
    settings: RepresentationSettings,
    device: torch.device,
    allocate: Allocate | None,
) -> Objective:
    if strategy == "sampled":
        return SampledObjective(model, graph.features, matrix, bank, settings.sampled, not graph.directed)
    if strategy == "decoupled":
        seed = settings.training.seed
        return DecoupledObjective(model, graph.features, matrix, bank, settings.decoupled, seed, allocate)
    operator = SparseOperator(matrix, symmetric=not graph.directed, device=device)
    return FullObjective(model, FeatureMatrix(graph.features, device), operator, bank)
