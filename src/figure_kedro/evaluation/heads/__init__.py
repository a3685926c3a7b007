"""One file for each head."""
