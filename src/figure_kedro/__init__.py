"""FiGURe: node embeddings for homophilic and heterophilic graphs, learnt without labels."""

import os

# torch reads this once, before its first large array: huge pages spare a training step most of its page faults
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

__version__ = "0.1.0"
