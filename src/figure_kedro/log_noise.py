"""What is left out of the log: advice that nobody can follow, second versions of an error's one line, and markup."""

import logging
import os
import sys

from figure_kedro.machine_errors import find_user_error

USELESS = (
    "Completed node: ",  # the count of completed tasks follows
    "Using synchronous mode for loading and saving data",  # said on every run
    "Add type hints to the `predict` method",  # about a class of kedro-mlflow
    "ORJSONResponse is deprecated",  # about a class of kedro-viz
    "No Kedro project found in",  # kedro-viz, where the package runs by itself
    "Could not find a Kedro project to create stats file",
)

LOGGERS = (
    "kedro.runner.sequential_runner",
    "kedro.pipeline.node",
    "kedro_viz.integrations.kedro.hooks",
    "kedro_viz.integrations.kedro.hooks_utils",
    "mlflow.store.db.utils",
    "py.warnings",
)


def silence() -> None:
    """Filter the loggers that say such things, and let nobody's names be markup; calling it again changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(worth_saying)
    for handler in logging.getLogger().handlers:
        handler.addFilter(as_it_stands)
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # MLflow tells at length that there is no Git
    if "viz" in sys.argv:  # its server is a process that warns before it reads this project
        os.environ.setdefault("PYTHONWARNINGS", "ignore:ORJSONResponse is deprecated")


def worth_saying(record: logging.LogRecord) -> bool:
    """Whether a record tells a user something that they can use."""
    if any(text in record.getMessage() for text in USELESS):
        return False
    # Kedro reports a failing node and how to resume, MLflow a full disk; that is reported once, at the end
    return record.levelno < logging.WARNING or find_user_error(sys.exception()) is None


def as_it_stands(record: logging.LogRecord) -> bool:
    """Have what is not Kedro's own shown as it is: names of files, columns and classes may hold ``[/x]``.

    ``conf/logging.yml`` says so too, but an installed package and a notebook have Kedro's own way of logging, which
    takes that for markup and ends in a traceback.
    """
    if record.name.partition(".")[0] != "kedro":
        record.markup = False
    return True
