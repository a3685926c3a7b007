"""The file that MLflow keeps its records in."""

import os
from pathlib import Path

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from figure_kedro.datasets.files.unfinished import Unfinished, remove_abandoned
from figure_kedro.errors import UserError


def ensure_database(path: Path) -> None:
    """Make MLflow's SQLite file if there is none, whole or not at all, and see that the one that is there can be used.

    MLflow makes its tables step by step in the file itself. Two first runs at a time would get in each other's way
    there, and one that is killed would leave a file that no later run can use. Here a run makes a file of its own and
    puts it in its place in one step; if another run was quicker, the other's stays.

    Raises:
        UserError: If MLflow cannot use the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path.parent)
    if not path.exists():
        with Unfinished(path, folder=True) as folder:
            new = folder.path / path.name
            _open(new)
            try:
                os.link(new, path)  # unlike a replacement it never takes the place of another file
            except OSError:  # there is one now, or the file system has no links
                if not path.exists():
                    new.replace(path)
    try:
        _open(path)
    except (MlflowException, SQLAlchemyError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"MLflow cannot use {path} ({reason}); move it away, and a new one is made") from error


def _open(path: Path) -> None:
    MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments(max_results=1)
