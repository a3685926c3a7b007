"""Searches over settings: what may vary, and studies that can be resumed."""
