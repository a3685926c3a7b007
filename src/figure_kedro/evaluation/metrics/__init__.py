"""One file for each metric."""
