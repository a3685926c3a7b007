"""One file for each source of graphs."""
