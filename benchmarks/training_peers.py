"""An epoch of training beside PyTorch Geometric's DeepGraphInfomax and the paper's literal equations."""

import pandas as pd

from benchmarks.graphs import published_graphs
from benchmarks.measure import use_threads
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import full_objective, in_turn, literal_epoch, objective_epoch, pyg_epoch

NOTE = """
FiGURe trains the three filters `A, A^2, A^3` on the whole graph (strategy `full`): loss, gradients and a step of Adam.
It is timed in turn with the peer in one process (ours, peer, ours, peer, ...); quick epochs are repeated for
half a second, slow ones of the literal peer less often. Nothing is counted before each has run once.

Peers, all on the same arrays with as many threads:

- PyG: `DeepGraphInfomax` with one `GCNConv` (normalised adjacency cached), PReLU, the sigmoid of the mean as summary,
  rows of the features permuted as corruption, its own loss and Adam; that is one filter, where FiGURe has three.
- PyG, CSR: the same, its edges given as a sparse CSR matrix and not as pairs of nodes, which its example does not do.
- literal: the paper's equations word by word, which the tests hold FiGURe against: each filter a dense matrix, one
  product for every filter and sign, a full bilinear form at every node, automatic differentiation.

Columns:

- seconds, spread: of FiGURe's epoch, the median, and the slowest minus the fastest; then the same of the peer.
- times the peer's speed: the peer's median over FiGURe's; above 1, FiGURe is faster.
"""

GRAPHS = ("cora", "chameleon", "squirrel", "minesweeper", "pubmed")
DIMS = (32, 128, 512)
LITERAL_GRAPHS, LITERAL_DIMS = ("cora", "chameleon"), (512,)


def run(settings: Settings) -> pd.DataFrame:
    """Measure every graph, dimension and peer."""
    rows = Rows()
    for graph in published_graphs(GRAPHS, settings.small):
        for threads in settings.threads:
            for dim in (8,) if settings.small else DIMS:
                makers = {"PyG": pyg_epoch, "PyG, CSR": lambda *of: pyg_epoch(*of, sparse=True)}
                if settings.small or (graph.name in LITERAL_GRAPHS and dim in LITERAL_DIMS):
                    makers["literal"] = literal_epoch
                for peer, maker in makers.items():
                    with use_threads(threads):
                        pair = {"FiGURe": objective_epoch(full_objective(graph, dim)), peer: maker(graph, dim)}
                        least = min(settings.repeat, 2) if peer == "literal" else settings.repeat
                        times = in_turn(pair, least)
                    ours, theirs = times["FiGURe"], times[peer]
                    row = {"graph": graph.name, "peer": peer, "threads": threads, "dim": dim}
                    row |= {"seconds": ours.median, "spread": ours.spread}
                    row |= {"peer's seconds": theirs.median, "peer's spread": theirs.spread}
                    rows.add(row | {"times the peer's speed": theirs.median / ours.median})
    return rows.frame()
