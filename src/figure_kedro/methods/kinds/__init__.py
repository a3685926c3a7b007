"""One file for each method."""
