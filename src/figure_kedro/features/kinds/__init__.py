"""One file for each kind of structural features."""
