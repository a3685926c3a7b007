"""File formats, without Kedro: everything appears whole or not at all, and says its version."""
