"""Who is next to whom, whatever the direction."""

import scipy.sparse as sp

from figure_kedro.graph import Graph


def neighbours_in_either_direction(graph: Graph) -> sp.csr_array:
    """The adjacency ``(n, n)`` with both directions of every edge."""
    return sp.csr_array(graph.adjacency.maximum(graph.adjacency.T)) if graph.directed else graph.adjacency
