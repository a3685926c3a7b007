"""``kedro runs``: what there is, and where."""
