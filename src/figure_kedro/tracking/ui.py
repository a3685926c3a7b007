"""``kedro mlflow ui``: MLflow's pages on the records of a data folder."""

import os
import shlex
import subprocess
import sys
import webbrowser
from pathlib import Path
from typing import Any

from kedro.framework.project import settings as project_settings
from kedro.utils import is_kedro_project

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.errors import UserError

HOST, PORT = "127.0.0.1", "5000"


def open_ui(project: Path, given: dict[str, Any], *, env: str | None, port: str | None, host: str | None) -> None:
    """Serve MLflow's pages until the user ends that, or open those of the server that keeps the records.

    Args:
        project: Root of the project.
        given: What ``--params`` says: ``data_folder``.
        env: Of the configuration; the usual one if none is given.
        port: To listen on; ``mlflow.yml`` and MLflow's usual one come after it.
        host: To listen on; after it ``mlflow.yml`` and this machine alone.
    """
    loader = ProjectConfigLoader(
        str(project / "conf"), env=env, runtime_params=given, **project_settings.CONFIG_LOADER_ARGS
    )
    loader.config_patterns.setdefault("mlflow", ["mlflow*"])
    database = loader.own_database()
    if database is not None and not database.is_file():
        raise UserError(f"there are no runs in {database.parents[1]} yet; another folder: --params data_folder=...")
    uri = loader.tracking()[0]
    if uri.startswith("http"):
        webbrowser.open(uri)
        return
    wanted = loader["mlflow"].get("ui") or {}
    places = ["--host", host or wanted.get("host") or HOST, "--port", str(port or wanted.get("port") or PORT)]
    subprocess.run(
        [sys.executable, "-m", "mlflow", *_arguments(uri), *places],
        env={"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", **os.environ},  # nothing here sends it jobs
        check=False,
    )


def ui_command(loader: ProjectConfigLoader) -> str:
    """What to type to see the runs of this configuration in MLflow."""
    if loader.own_database() is not None and is_kedro_project(Path.cwd()):
        folder = (loader.runtime_params or {}).get("data_folder")
        options = [f"--env={loader.env}"] if loader.env else []
        options += ["--params", f"data_folder={folder}"] if folder else []
        return shlex.join(["kedro", "mlflow", "ui", *options])
    uri = loader.tracking()[0].replace(f"sqlite:///{Path.cwd()}/", "sqlite:///")
    return shlex.join(["mlflow", *_arguments(uri), "--host", HOST])


def _arguments(uri: str) -> list[str]:
    return ["ui", "--workers", "1", "--backend-store-uri", uri]
