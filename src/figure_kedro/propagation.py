"""Filtered features without any training, the row that every table needs beside the trained ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters import SparseOperator, normalised_adjacency
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.graph import Graph
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.training.loop import TrainingRecord


class Propagation:
    r"""The views :math:`F_i X`, with the interface of :class:`~figure_kedro.estimator.FiGURe` and nothing to learn.

    Args:
        filters: The filter bank.
        settings: Kept with the result; its dimension is not used.
    """

    def __init__(
        self, *, filters: FilterSettings | None = None, settings: RepresentationSettings | None = None
    ) -> None:
        self.filters = filters or FilterSettings()
        self.settings = settings or RepresentationSettings(method="propagation")

    def fit(self, graph: Graph, **kwargs: Any) -> "Propagation":
        """Take note of the graph; the arguments of a method that trains are accepted and not used."""
        self.num_features_, self.checksum_ = graph.num_features, graph.checksum()
        self.record_ = TrainingRecord(finished=True)
        return self

    def views(self, graph: Graph, matrix: sp.csr_array | None = None) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of every filter and the filtered features ``(n, f)``, one at a time."""
        if matrix is None:
            matrix = normalised_adjacency(graph.adjacency, self_loops=self.filters.self_loops)
        bank = self.filters.build()
        features = graph.features.toarray() if sp.issparse(graph.features) else np.array(graph.features)
        operator = SparseOperator(matrix, symmetric=True)  # never differentiated: the transpose is not needed
        for name, block in zip(bank.names, bank.apply(operator, torch.from_numpy(features)), strict=True):
            yield name, block.numpy()

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """No weights, and the settings."""
        return {}, {
            "filters": self.filters.model_dump(mode="json"),
            "representation": self.settings.model_dump(mode="json"),
            "num_features": self.num_features_,
            "graph_checksum": self.checksum_,
            "training": {"finished": True},
        }

    @classmethod
    def from_state(cls, weights: dict[str, torch.Tensor], description: dict[str, Any]) -> "Propagation":
        """Make a fitted one of what :meth:`state` gave."""
        fitted = cls(
            filters=FilterSettings(**description["filters"]),
            settings=RepresentationSettings(**description["representation"]),
        )
        fitted.num_features_, fitted.checksum_ = description["num_features"], description["graph_checksum"]
        fitted.record_ = TrainingRecord(finished=True)
        return fitted
