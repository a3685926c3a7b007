"""The whole journey as a command that can be killed, and what it leaves."""

import hashlib
import multiprocessing
import os
import signal
import sqlite3
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import pandas as pd

from figure_kedro.datasets.files.tensor_file import read_tensors

PROJECT = Path(__file__).parents[2]

SMALL = {
    "dataset": "csbm",
    "source.nodes": 200,
    "source.degree": 6,
    "representation.dim": 8,
    "representation.training.max_epochs": 40,
    "representation.training.threads": 1,
    "representation.training.checkpoint_seconds": 0.02,
    "representation.tuning.enabled": "true",
    "representation.tuning.trials": 8,
    "evaluation.trials": 48,
    "evaluation.splits": 2,
    "evaluation.threads": 1,
}


CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["mlflow.tracking", "kedro.framework.cli.cli", "figure_kedro.pipeline_registry"])


def start(folder, **changes):
    """The command ``kedro run`` in a process of its own, a fork of one that has all modules: starting takes no time.

    It is no fork of this process, where other tests may have left what a fork cannot end, such as clients of Ray.
    """
    params = ",".join(f"{name}={value}" for name, value in {**SMALL, **changes, "data_folder": folder}.items())
    Path(folder).mkdir(parents=True, exist_ok=True)
    arguments = (["kedro", "run", "--params", params], f"{folder}.log", dict(os.environ))
    process = CONTEXT.Process(target=_run, args=arguments, daemon=True)
    process.start()
    return process


def _run(arguments, log, environment):
    try:  # nothing of the process that has the modules may go on in here
        from kedro.framework.cli.cli import KedroCLI

        os.environ.clear()
        os.environ.update(environment)
        os.environ.pop("MLFLOW_TRACKING_URI", None)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for stream in (1, 2):
            os.dup2(file, stream)
        sys.stdout = sys.stderr = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
        os.chdir(PROJECT)
        sys.argv = arguments
        code = 1
        try:
            KedroCLI(PROJECT)(sys.argv[1:], standalone_mode=True)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except KeyboardInterrupt:
            code = 130
        except BaseException:
            traceback.print_exc()
            raise
        import atexit

        atexit._run_exitfuncs()  # os._exit would leave them out, and a real command runs them
        os._exit(code)
    finally:
        os._exit(99)


def send(process, number):
    """A signal, to a process that may have come to its end."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)


def wait(process, seconds=600.0):
    """The exit code of a process, negative for a signal; nothing if it runs on after so many seconds."""
    process.join(seconds)
    return process.exitcode


def results(folder):
    """Checksums of the numbers that a run leaves: weights, embeddings, choices, scores, predictions."""
    found = {}
    for path in sorted(Path(folder).glob("0*/csbm/*/**/*")):
        if path.parent.name == ".digests":
            continue
        if path.name == "weights.safetensors":
            tensors, description = read_tensors(path)
            content = b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))
            content += str(description["training"]["losses"]).encode()
        elif path.name == "split_scores.csv" or path.suffix == ".parquet":
            table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
            content = table.to_csv().encode()
        elif path.suffix == ".npy" or path.name in ("split_alphas.csv", "tuned_representation.json"):
            content = path.read_bytes()
        else:
            continue
        found[str(path.relative_to(folder))] = hashlib.sha256(content).hexdigest()
    return found


def leftovers(folder):
    """What no run leaves on purpose."""
    paths = [path for path in Path(folder).rglob(".*") if path.name != ".digests"]
    paths += [*Path(folder).glob("locks/*"), *Path(folder).glob("mlflow/new_*")]
    return [str(path.relative_to(folder)) for path in [*paths, *Path(folder).rglob("trial.safetensors")]]


def statuses(folder):
    """How many MLflow runs have each status."""
    with sqlite3.connect(Path(folder) / "mlflow" / "mlflow.db") as database:
        return dict(database.execute("select status, count(*) from runs group by status").fetchall())
