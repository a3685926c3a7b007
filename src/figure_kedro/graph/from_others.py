"""The ways into a graph from other libraries, as methods of :class:`~figure_kedro.graph.graph.Graph`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from figure_kedro.graph.graph import Graph

# The conversions are imported when one is asked for: they build on Graph, which inherits these methods.


class FromOthers:
    """``Graph.from_...``: each is a function of its own, which says what it takes."""

    @staticmethod
    def from_arrays(source: Any, target: Any, **known: Any) -> "Graph":
        """From both ends of every edge, see :func:`figure_kedro.graph.convert.from_arrays`."""
        from figure_kedro.graph.convert import from_arrays

        return from_arrays(source, target, **known)

    @staticmethod
    def from_scipy(matrix: Any, **known: Any) -> "Graph":
        """From a sparse adjacency, see :func:`figure_kedro.graph.convert.from_scipy`."""
        from figure_kedro.graph.convert import from_scipy

        return from_scipy(matrix, **known)

    @staticmethod
    def from_pandas(edges: Any, nodes: Any = None, **columns: Any) -> "Graph":
        """From tables of edges and nodes, see :func:`figure_kedro.graph.from_tables.from_pandas`."""
        from figure_kedro.graph.from_tables import from_pandas

        return from_pandas(edges, nodes, **columns)

    @staticmethod
    def from_networkx(graph: Any, **columns: Any) -> "Graph":
        """From a graph of networkx, see :func:`figure_kedro.graph.from_networkx.from_networkx`."""
        from figure_kedro.graph.from_networkx import from_networkx

        return from_networkx(graph, **columns)

    @staticmethod
    def from_pyg(data: Any, **options: Any) -> "Graph":
        """From a ``Data`` of PyTorch Geometric, see :func:`figure_kedro.graph.from_pyg.from_pyg`."""
        from figure_kedro.graph.from_pyg import from_pyg

        return from_pyg(data, **options)
