"""Nodes that were not there in training: embedded and classified without training again; and the nearest nodes."""
