"""What libraries behind us would tell or ask others over the network, switched off unless a user says otherwise."""

import os
import sys
from importlib import import_module

from packaging.version import Version

OFF = {
    "DO_NOT_TRACK": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "KEDRO_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Environment variables that the libraries obey; what is set already stays."""


def switch_off() -> None:
    """Set the variables, and undo what was begun before they could be set."""
    for name, value in OFF.items():
        os.environ.setdefault(name, value)
    if os.environ["MLFLOW_DISABLE_TELEMETRY"].lower() in ("1", "true") and "mlflow.telemetry.client" in sys.modules:
        # a plugin of Kedro imports MLflow before any project is looked at
        import_module("mlflow.telemetry.client").set_telemetry_client()
    if "viz" in sys.argv or "kedro_viz" in sys.modules:
        # it has no setting for this: `kedro viz run` and its pages ask the package index for a newer version of itself
        installed = Version(import_module("kedro_viz").__version__)
        for asking in ("kedro_viz.integrations.pypi", "kedro_viz.api.rest.responses.version"):
            vars(import_module(asking))["get_latest_version"] = lambda: installed
