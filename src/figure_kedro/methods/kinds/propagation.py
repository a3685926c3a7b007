"""Filtered features without any training, and features as they are: rows that every table needs beside the trained."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from figure_kedro.filters import SparseOperator
from figure_kedro.graph import Graph
from figure_kedro.methods.method import Method


class Propagation(Method):
    r"""The views :math:`F_i X` of all filters, with nothing to learn; its width is that of the features."""

    @property
    def views(self) -> tuple[str, ...]:
        return self.bank.names

    def build(self, num_nodes: int, num_features: int) -> nn.Module:
        return nn.Module()

    def embed(self, model: nn.Module, graph: Graph, matrix: sp.csr_array) -> Iterator[np.ndarray]:
        operator = SparseOperator(matrix, symmetric=True)  # never differentiated: the transpose is not needed
        for block in self.bank.apply(operator, torch.from_numpy(_dense(graph))):
            yield block.numpy()

    def width(self, num_features: int) -> int:
        return num_features


class Features(Propagation):
    """The features as they are, the single view ``X``; what a supervised run starts from."""

    @property
    def views(self) -> tuple[str, ...]:
        return ("X",)

    def embed(self, model: nn.Module, graph: Graph, matrix: sp.csr_array) -> Iterator[np.ndarray]:
        yield _dense(graph)


def _dense(graph: Graph) -> np.ndarray:
    return graph.features.toarray() if sp.issparse(graph.features) else np.array(graph.features)
