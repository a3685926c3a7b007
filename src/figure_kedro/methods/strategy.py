"""Which of the ways to train FiGURe fits into memory."""

import logging
from math import inf
from typing import TYPE_CHECKING

import torch

from figure_kedro.cost import full_step_bytes, propagated_bytes
from figure_kedro.errors import UserError
from figure_kedro.graph.graph import Features
from figure_kedro.memory import FREE_SHARE, memory
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.features import is_sparse
from figure_kedro.methods.filter_order import is_pair_filter_first
from figure_kedro.training.device import available_memory

if TYPE_CHECKING:
    from figure_kedro.methods.kinds.figure import FigureSettings

logger = logging.getLogger(__name__)


def estimate_memory(settings: "FigureSettings", model: FigureModel, features: Features, nnz: int) -> int:
    """Bytes that a step on the whole graph needs beside the graph itself."""
    linear, shape = model.linear, features.shape
    return full_step_bytes(
        shape,
        settings.dim,
        nnz,
        trained=len(model.trained),
        products=model.products,
        working_blocks=model.working_blocks,
        gcn_layers=settings.encoder.gcn_layers,
        encoders=len(model.encoders),
        filter_first=linear and is_pair_filter_first(shape, settings.dim, nnz, sparse=is_sparse(features)),
    )


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
        limit = memory().limit if device.type == "cpu" else inf
        fits = sparse_products and need < min(FREE_SHARE * free, limit)
        strategy = "full" if fits or not model.linear else "decoupled"
        if not fits and strategy == "full":
            size += "; a deeper or unshared encoder has no other whole-graph way, so it is tried all the same"
        logger.info("strategy %s on %s: %s", strategy, device, size)
    else:
        logger.info("strategy %s on %s, as asked for (%s)", strategy, device, size)
    if strategy == "decoupled":
        n, f = features.shape
        stored = propagated_bytes(n, f, len(model.trained), settings.decoupled.corruptions)
        logger.info("the propagated rows take %.2f GiB", stored / 2**30)
    return strategy
