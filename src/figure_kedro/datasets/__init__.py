"""Kedro datasets: the only place that reads or writes files."""
