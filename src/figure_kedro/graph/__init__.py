"""Graphs: the one type, how it is built and checked, and graphs that are drawn from a seed."""

from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.convert import as_graph
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.splits import random_splits, splits_from_masks
from figure_kedro.graph.targets import Targets

__all__ = ["Graph", "Targets", "as_graph", "graph_from_edges", "random_splits", "splits_from_masks"]
