"""Small graphs and models that several tests share."""

import dataclasses

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters import BANKS, FilterBank, Operator, SparseOperator, build_bank
from figure_kedro.graph import Graph
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.methods.encoder import EncoderSettings, FigureModel
from oracle import dense_filters, dense_operator, dense_words

NODES = 14


def example_graph(
    nodes: int = NODES, *, directed: bool = False, features: str | None = "dense", columns: int = 6, seed: int = 0
) -> Graph:
    """A random graph with weighted edges; its last node is alone."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes - 1, size=(2, 3 * nodes))
    given = rng.standard_normal((nodes, columns), dtype=np.float32)
    if features == "sparse":
        given = sp.csr_array(given * (rng.random(given.shape) < 0.15))
    return graph_from_edges(
        source,
        target,
        name="example",
        num_nodes=nodes,
        weights=rng.uniform(0.5, 2.0, 3 * nodes),
        directed=directed,
        features=None if features is None else given,
    )


def relabelled(graph: Graph, order: np.ndarray) -> Graph:
    """The same graph with its nodes in another order."""
    return Graph(
        graph.name,
        graph.ids[order],
        sp.csr_array(graph.adjacency[order][:, order]),
        graph.directed,
        None if graph.features is None else graph.features[order],
    )


def example_model(
    bank: FilterBank, columns: int = 6, dim: int = 5, *, slope: float | None = None, **encoder: object
) -> FigureModel:
    """A model with random biases too, so that no gradient is zero by accident."""
    generator = torch.Generator().manual_seed(1)
    model = FigureModel(columns, dim, bank, EncoderSettings(**encoder), generator)
    with torch.no_grad():
        for part in model.encoders:
            part.bias.normal_(generator=generator)
            if slope is not None:
                part.slope.fill_(slope)
    return model


def operator_of(graph: Graph, *, self_loops: bool = True, direction: str = "auto") -> Operator:
    """The normalised adjacency as methods are given it."""
    return Operator.of(graph, BANKS.parse({"self_loops": self_loops, "direction": direction}))


def example_operator(graph: Graph, *, self_loops: bool = True) -> SparseOperator:
    """The normalised adjacency as objectives are given it."""
    return operator_of(graph, self_loops=self_loops).on()


def dense_features(graph: Graph) -> torch.Tensor:
    features = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    return torch.from_numpy(features).double()


def exact_filters(graph: Graph, bank: str, size: int, *, self_loops: bool = True) -> list[torch.Tensor]:
    """The oracle's filters in double precision."""
    adjacency = torch.from_numpy(graph.adjacency.toarray()).double()
    return dense_filters(dense_operator(adjacency, self_loops), bank, size)


def words_and_filters(graph: Graph, size: int, *, self_loops: bool = True) -> tuple[FilterBank, list[torch.Tensor]]:
    """The bank of words in both directions, and its filters in double precision."""
    adjacency = torch.from_numpy(graph.adjacency.toarray()).double()
    operator = dense_operator(adjacency, self_loops)
    return BANKS.build(BANKS.parse({"size": size, "direction": "both"})), dense_words(operator, size)


def unweighted(graph: Graph) -> Graph:
    """The same graph with weights of 1."""
    adjacency = graph.adjacency.copy()
    adjacency.data[:] = 1
    return dataclasses.replace(graph, adjacency=adjacency)


def bank_and_filters(
    graph: Graph, name: str, size: int, *, self_loops: bool = True
) -> tuple[FilterBank, list[torch.Tensor]]:
    return build_bank(name, size), exact_filters(graph, name, size, self_loops=self_loops)


def gradients(model: torch.nn.Module, loss: torch.Tensor) -> dict[str, np.ndarray]:
    """The gradient of a loss in every parameter by name."""
    names, parameters = zip(*model.named_parameters(), strict=True)
    return {name: gradient.numpy() for name, gradient in zip(names, torch.autograd.grad(loss, parameters), strict=True)}


def assert_same_loss_and_gradients(model: FigureModel, fast: torch.Tensor, exact: torch.Tensor) -> None:
    np.testing.assert_allclose(fast.item(), exact.item(), rtol=1e-5, atol=1e-5)
    ours, theirs = gradients(model, fast), gradients(model, exact)
    for name, gradient in theirs.items():
        np.testing.assert_allclose(ours[name], gradient, rtol=1e-5, atol=1e-5, err_msg=name)
