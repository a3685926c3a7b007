"""From a source to a graph that is ready for training, and what there is to know about it."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from matplotlib.figure import Figure

from figure_kedro.filters import normalised_adjacency
from figure_kedro.filters.feature_rows import with_normalised_rows
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.filters.structural import FeatureSettings, with_structural_features
from figure_kedro.graph import Graph
from figure_kedro.graph.splits import PARTS
from figure_kedro.graph.statistics import statistics_table
from figure_kedro.reporting.filter_responses import plot_filter_responses

PAPER_SIZES = (5, 7, 9, 11)
"""Numbers of filters in the paper's figure of responses; more lines than that cannot be told apart."""


def prepare_graph(source_graph: Graph, features: FeatureSettings) -> Graph:
    """Normalise given features if that is asked for, and add structural ones where they are needed or asked for."""
    graph = with_normalised_rows(source_graph) if features.normalise == "rows" else source_graph
    return with_structural_features(graph, features)


def tabulate_splits(graph: Graph) -> pd.DataFrame:
    """List the part of every node in every split under the user's node ids."""
    names = np.array(["", *PARTS])
    columns = {f"split_{i}": pd.Categorical(names[codes]) for i, codes in enumerate(_splits(graph))}
    return pd.DataFrame({"id": graph.ids, **columns})


def normalise_adjacency(graph: Graph, filters: FilterSettings) -> sp.csr_array:
    """Compute the operator that the filters are polynomials of."""
    return normalised_adjacency(graph.adjacency, self_loops=filters.self_loops)


def describe_bank(normalised_adjacency: sp.csr_array, filters: FilterSettings) -> dict[str, Any]:
    """Describe every filter: its name, whether it is the identity, its response over the spectrum.

    The size of the operator stands beside it, because a product with the operator is what a filter costs.
    """
    bank = filters.build()
    eigenvalues = np.linspace(0.0, 2.0, 41)
    return {
        **filters.model_dump(),
        "operator": {"nodes": normalised_adjacency.shape[0], "entries": normalised_adjacency.nnz},
        "filters": [
            {"name": name, "identity": identity, "response": response.round(6).tolist()}
            for name, identity, response in zip(bank.names, bank.identities, bank.response(eigenvalues), strict=True)
        ],
        "eigenvalues": eigenvalues.round(6).tolist(),
    }


def summarise_graph(graph: Graph) -> pd.DataFrame:
    """Compute the row of the paper's data set table, and edge homophily."""
    return statistics_table(graph)


def draw_filter_responses(filter_bank: dict[str, Any]) -> Figure:
    """Draw the responses of both bases over the spectrum: the paper's last figure, and a row for this run's size."""
    return plot_filter_responses(sorted({*PAPER_SIZES, min(filter_bank["size"], max(PAPER_SIZES))}))


def _splits(graph: Graph) -> np.ndarray:
    return np.zeros((0, graph.num_nodes), dtype=np.int8) if graph.splits is None else graph.splits
