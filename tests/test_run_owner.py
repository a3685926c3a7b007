"""MLflow runs of processes that ended on the way are closed by the next one, and no others."""

import subprocess
import sys

import mlflow
import pytest

from figure_kedro.run_owner import close_dead_runs, owned_runs

PROCESS = """
import sys
from contextlib import ExitStack
from pathlib import Path
import mlflow
from figure_kedro.run_owner import owned_runs

mlflow.set_tracking_uri(sys.argv[1])
begun = ExitStack()
begun.enter_context(owned_runs(Path(sys.argv[2]), "key"))
mlflow.start_run()
mlflow.tracking.fluent._active_run_stack.get().clear()  # the database could not be written to
sys.exit(1)
"""


@pytest.fixture
def tracked(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    return lambda: {run.info.status for run in mlflow.search_runs(output_format="list", search_all_experiments=True)}


def test_a_run_that_its_process_could_not_end_is_closed_by_the_next_one(tracked, tmp_path):
    command = [sys.executable, "-c", PROCESS, mlflow.get_tracking_uri(), str(tmp_path / "locks")]
    assert subprocess.run(command, cwd=tmp_path, timeout=120, check=False).returncode == 1
    assert tracked() == {"RUNNING"}
    with owned_runs(tmp_path / "locks", "key"):
        assert tracked() == {"KILLED"}
    assert list((tmp_path / "locks").iterdir()) == []


def test_a_run_of_a_living_process_goes_on(tracked, tmp_path):
    with owned_runs(tmp_path, "key"), mlflow.start_run():
        close_dead_runs(tmp_path)
        assert tracked() == {"RUNNING"}
    assert tracked() == {"FINISHED"}
