"""One file for each map."""
