"""The pipelines: ``pipeline.py`` is wiring, ``nodes.py`` holds pure functions."""
