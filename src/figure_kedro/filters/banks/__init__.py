"""One file for each bank of filters."""
