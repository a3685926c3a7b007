"""FiGURe: node embeddings for homophilic and heterophilic graphs, learnt without labels."""

import os

# torch reads this once, before its first large array: huge pages spare a training step most of its page faults
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

__version__ = "0.1.0"
__all__ = ["FiGURe", "__version__"]


def __getattr__(name: str) -> object:
    if name == "FiGURe":  # on first use, so that a command that needs no torch starts quickly
        from figure_kedro.estimator import FiGURe

        return FiGURe
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
