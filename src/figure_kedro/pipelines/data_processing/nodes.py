"""From a source to a graph that is ready for training, and what there is to know about it."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from figure_kedro.features import FeatureSettings, prepare_features
from figure_kedro.filters import BankSettings, Operator
from figure_kedro.graph import Graph, Targets
from figure_kedro.graph.splits import PARTS
from figure_kedro.graph.statistics import statistics_table
from figure_kedro.graph.twins import twin_groups


def prepare_graph(source_graph: Graph, features: FeatureSettings) -> tuple[Graph, Targets]:
    """Give the graph the features that are asked for, and part it from its labels and splits.

    Returns:
        What embeddings are learnt from, and what there is to predict.
    """
    targets = source_graph.targets
    if targets.twins is None:
        targets = dataclasses.replace(targets, twins=twin_groups(source_graph))
    return prepare_features(source_graph, features).without_targets(), targets


def tabulate_splits(graph: Graph, targets: Targets) -> pd.DataFrame:
    """List the part of every node in every split under the user's node ids."""
    names = np.array(["", *PARTS])
    splits = () if targets.splits is None else targets.splits
    columns = {f"split_{i}": pd.Categorical(names[codes]) for i, codes in enumerate(splits)}
    return pd.DataFrame({"id": graph.ids, **columns})


def normalise_adjacency(graph: Graph, filters: BankSettings) -> Operator:
    """Compute the operator that the filters are polynomials of."""
    return Operator.of(graph, filters)


def describe_bank(operator: Operator) -> dict[str, Any]:
    """Describe every filter for people: its name, whether it is the identity, its response over the spectrum.

    The size of the operator stands beside it, because a product with the operator is what a filter costs.
    """
    bank = operator.bank
    points = np.linspace(*bank.axis[1:], 41)
    return {
        **operator.filters.model_dump(),
        "operator": {"nodes": operator.matrix.shape[0], "entries": int(operator.matrix.nnz)},
        "filters": [
            {"name": name, "identity": identity, "response": response.round(6).tolist()}
            for name, identity, response in zip(bank.names, bank.identities, bank.response(points), strict=True)
        ],
        "axis": bank.axis[0].replace("$", ""),
        "eigenvalues": points.round(6).tolist(),
    }


def summarise_graph(graph: Graph, targets: Targets) -> pd.DataFrame:
    """Compute the row of the paper's data set table, and edge homophily."""
    return statistics_table(graph, targets)
