"""New nodes and their edges, checked against the graph that they join."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.graph import Graph
from figure_kedro.graph.feature_columns import named_features, origins


@dataclass(frozen=True, eq=False)
class NewNodes:
    """What a user says about nodes that are not in the graph, as it stands in tables.

    Args:
        ids: Of the new nodes, distinct ``(m,)``.
        source, target: Ids of the ends of each edge ``(e,)``; at least one of them is new.
        weights: Of the edges ``(e,)``; all are 1 by default.
        features: One row per new node, in the order of ``ids``, and the named columns that features are made of, in any
            order; further columns of numbers are an error. ``None`` if there are none.
        edges_name, nodes_name: What the tables are called in messages.
    """

    ids: np.ndarray
    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None = None
    features: pd.DataFrame | None = None
    edges_name: str = "the new edges"
    nodes_name: str = "the new nodes"

    def matched_features(self, graph: Graph) -> np.ndarray | None:
        """The features ``(m, f)``, float32, in the order in which the graph has them; they are matched by name.

        Raises:
            UserError: If there are none and the graph has some, if one is missing, or if the graph does not know one.
        """
        names = graph.feature_names
        if names is None:
            raise UserError(
                f"the features of {graph.name} have no names; if an older version has stored it, run `kedro run "
                "--pipelines=data_processing` with the same --params once"
            )
        if structural := graph.num_features - len(names):
            raise UserError(
                f"{structural} features of {graph.name} are made from all of its edges (features.structural), and new "
                "nodes have none of that basis; train with features of your own and features.structural=none, or embed "
                "the joined graph"
            )
        if not names:
            return None
        if self.features is None:
            raise UserError(
                f"the model was trained on {len(names)} features, and the new nodes have none; name their table "
                "(inference.nodes) with the columns " + _some(names)
            )
        made_of = origins(self.features, names)
        if missing := [name for name in names if name not in made_of]:
            raise UserError(f"{self.nodes_name} has no column {missing[0]!r}, which is a feature of {graph.name}")
        others = [name for name in self.features if name not in set(made_of.values())]
        if unknown := [name for name in others if pd.api.types.is_numeric_dtype(self.features[name])]:
            raise UserError(
                f"{self.nodes_name} has a column {unknown[0]!r} of numbers that is no feature of {graph.name}; leave "
                "it out"
            )
        return named_features(self.features, names, self.ids, self.nodes_name)


@dataclass(frozen=True, eq=False)
class Attachment:
    """The edges of new nodes in numbers: ``0`` to ``m - 1`` are the new nodes, what follows are known ones.

    Args:
        ids: Of the new nodes ``(m,)``.
        known: Rows of the graph for the numbers from ``m`` on, ascending ``(t,)``.
        source, target: Ends of the edges ``(e,)``.
        weights: Of the edges ``(e,)``.
        features: Of the new nodes ``(m, f)``, in the order of the graph's.
    """

    ids: np.ndarray
    known: np.ndarray
    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None
    features: np.ndarray | None = None

    @classmethod
    def of(cls, new: NewNodes, graph: Graph) -> Self:
        """Find the ends of all edges.

        The graph's ids are gone through once, and neither sorted nor kept.

        Raises:
            UserError: For a new id that is known, one that is there twice, an end that is neither new nor known, or an
                edge between two known nodes.
        """
        known_ids, new_ids, source, target = _comparable(graph.ids, new.ids, new.source, new.target)
        index = pd.Index(new_ids)
        if (repeated := index.duplicated()).any():
            raise UserError(f"{new.nodes_name}: node {_at(new_ids, repeated)} is there twice")
        wanted = pd.unique(np.concatenate([new_ids, source, target]))
        rows = positions(known_ids, wanted)
        where = pd.Index(wanted)
        if (there := rows[where.get_indexer(new_ids)] >= 0).any():
            raise UserError(
                f"{new.nodes_name}: node {_at(new_ids, there)} is in {graph.name} already, which has its embedding; "
                "leave it out"
            )
        known = np.unique(rows[rows >= 0])
        ends = []
        for ids in (source, target):
            row, end = rows[where.get_indexer(ids)], index.get_indexer(ids)
            if (nowhere := (row < 0) & (end < 0)).any():
                edge = int(np.argmax(nowhere))
                raise UserError(
                    f"{new.edges_name}, row {edge + 1}: there is no node {_at(ids, nowhere)}, neither in {graph.name} "
                    f"nor in {new.nodes_name}"
                )
            ends.append(np.where(end >= 0, end, len(new_ids) + np.searchsorted(known, row)))
        if (old := (ends[0] >= len(new_ids)) & (ends[1] >= len(new_ids))).any():
            raise UserError(
                f"{new.edges_name}, row {int(np.argmax(old)) + 1}: {_at(source, old)} and {_at(target, old)} are both "
                f"known, and {graph.name} is taken as it was; leave the edge out, or train on the joined graph"
            )
        return cls(new.ids, known, ends[0], ends[1], new.weights)


def positions(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each of some distinct ids stands in a long list, -1 if nowhere; only the few are hashed.

    >>> positions(np.array([7, 5, 9]), np.array([9, 1, 7])).tolist()
    [2, -1, 0]
    """
    found = pd.Index(wanted).get_indexer(ids)
    rows = np.flatnonzero(found >= 0)
    result = np.full(len(wanted), -1)
    result[found[rows]] = rows
    return result


def _comparable(*arrays: np.ndarray) -> list[np.ndarray]:
    """Ids as numbers if all are, else as text, so that all kinds can be compared."""
    if all(array.dtype.kind in "iu" or not len(array) for array in arrays):
        return [array.astype(np.int64, copy=False) for array in arrays]
    return [array.astype(str).astype(object) for array in arrays]


def _at(ids: np.ndarray, bad: np.ndarray) -> str:
    return repr(str(ids[int(np.argmax(bad))]))


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
