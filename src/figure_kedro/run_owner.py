"""MLflow runs that can be told from those of dead processes."""

import json
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figure_kedro.datasets.files.locks import Lock, remove_dead

logger = logging.getLogger(__name__)

KEY, OWNER = "figure.key", "figure.owner"
"""Tags of a run: what decides its results, and the name of the lock that its process holds."""

CONTEXT = "MLFLOW_RUN_CONTEXT"
"""The environment variable from which MLflow takes tags of every run that it starts."""


@contextmanager
def owned_runs(folder: Path, key: str) -> Iterator[None]:
    """Mark the runs that are started inside as those of this process, and close those of dead ones first.

    The lock is there before any run is, so that there is no moment at which a kill leaves a run without an owner, and
    it stays if the process ends on the way: whoever was interrupted may not have come to end its runs. A run whose lock
    is not in this folder belongs to somebody else, for instance on a server that several projects share.

    Args:
        folder: Where the locks of a data folder are.
        key: Of what decides the results.
    """
    close_dead_runs(folder)
    lock, before = Lock(folder / f"mlflow-{uuid.uuid4().hex}.lock", stays=True), os.environ.get(CONTEXT)
    lock.acquire()
    os.environ[CONTEXT] = json.dumps({**json.loads(before or "{}"), KEY: key, OWNER: lock.path.name})
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(CONTEXT, None)
        else:
            os.environ[CONTEXT] = before
    lock.release()


def close_dead_runs(folder: Path) -> None:
    """End the runs of processes that were killed as KILLED, and remove the locks that these have left."""
    for path in folder.glob("mlflow-*.lock"):
        lock = Lock(path)
        if lock.acquire_now(create=False):
            _end_as_killed(path.name)
            lock.release()
    remove_dead(folder)


def _end_as_killed(owner: str) -> None:
    import mlflow

    client = mlflow.MlflowClient()
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    of_owner = f"attributes.status = 'RUNNING' and tags.`{OWNER}` = '{owner}'"
    for run in client.search_runs(experiments, of_owner):
        client.set_terminated(run.info.run_id, "KILLED")
        logger.info("the MLflow run %s of a process that was killed is closed", run.info.run_name)
