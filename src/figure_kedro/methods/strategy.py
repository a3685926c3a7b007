"""Which of the ways to train FiGURe fits into memory."""

import logging
from typing import TYPE_CHECKING

import torch

from figure_kedro.errors import UserError
from figure_kedro.graph.graph import Features
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.features import is_sparse
from figure_kedro.methods.filter_order import is_pair_filter_first
from figure_kedro.training.device import available_memory

if TYPE_CHECKING:
    from figure_kedro.methods.kinds.figure import FigureSettings

logger = logging.getLogger(__name__)

MEMORY_SHARE = 0.7
"""Share of the free memory that a whole-graph step may take before the decoupled strategy is chosen."""


def estimate_memory(settings: "FigureSettings", model: FigureModel, features: Features, nnz: int) -> int:
    """Bytes that a step on the whole graph needs beside the graph itself.

    In blocks of ``2 d`` columns: the gradient of each filter, two more for each further layer, the results of the
    products forward and backward, and the bank's working blocks. Where features are filtered first, one result
    serves all filters, and the blocks that are filtered have the features' columns.
    """
    n, f = features.shape
    trained, products = len(model.trained), model.products
    if model.linear and is_pair_filter_first((n, f), settings.dim, nnz, sparse=is_sparse(features)):
        columns = (trained + 2) * 2 * settings.dim + (2 * trained + products + 2) * (f + 1)
    else:
        blocks = trained * (2 * settings.encoder.gcn_layers - 1) + 2 * products + model.working_blocks
        columns = blocks * 2 * settings.dim
    weights = 8 * (f + settings.dim) * settings.dim * len(model.encoders)
    return 4 * (n * columns + weights) + 12 * nnz


def choose_strategy(
    settings: "FigureSettings", model: FigureModel, features: Features, nnz: int, device: torch.device
) -> str:
    """Resolve ``auto``, and say what was chosen and why."""
    need, free = estimate_memory(settings, model, features, nnz), available_memory(device)
    size = f"a whole-graph step takes about {need / 2**30:.2f} GiB of {free / 2**30:.1f} GiB free"
    strategy: str = settings.strategy
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
        stored = 4 * copies * features.shape[0] * (features.shape[1] + 1)
        logger.info("the propagated rows take %.2f GiB", stored / 2**30)
    return strategy
