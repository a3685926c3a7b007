"""Timings side by side with peers and bounds, each ratio measured in one run, and one table of quality.

``python -m benchmarks`` runs all of them and renews the tables in ``benchmarks/results``; ``--list`` names them. A
benchmark is a module of this package:

- its docstring, the first line of which is the title of its table;
- ``NOTE``: how each column and ratio is defined, in Markdown;
- ``run(settings: Settings) -> pd.DataFrame``: the table, collected with :class:`~benchmarks.report.Rows`.

A new benchmark is one new file and its name in :data:`BENCHMARKS`.
"""

BENCHMARKS = (
    "data_processing",
    "data_processing_growth",
    "training_peers",
    "training_bound",
    "training_direction",
    "training_large",
    "training_decoupled",
    "training_growth",
    "ray_workers",
    "whole_run",
    "arxiv_run",
    "own_table",
    "methods_epochs",
    "methods_memory",
    "evaluation_search",
    "experiment_overhead",
    "single_filter",
    "new_nodes",
    "serving",
    "peers",
)
"""The benchmarks in the order in which they run."""
