"""FiGURe: node embeddings for homophilic and heterophilic graphs, learnt without labels."""

__version__ = "0.1.0"
