"""Which files of a run MLflow gets."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import mlflow

logger = logging.getLogger(__name__)

MEGABYTE = 2**20


def log_files(artefacts: Mapping[str, Path], limit_mb: float) -> None:
    """Copy files to the active run, each below the name of what it is, unless they are larger than a limit.

    Args:
        artefacts: What each file or folder is, and its path; a folder counts as one.
        limit_mb: The size in megabytes.
    """
    for name, path in artefacts.items():
        size = sum(file.stat().st_size for file in _files(path)) / MEGABYTE
        if size > limit_mb:
            logger.info("%s (%.0f MB) stays where it is: MLflow keeps its path", name, size)
        elif path.is_dir():
            mlflow.log_artifacts(str(path), name)
        else:
            mlflow.log_artifact(str(path), name)


def _files(path: Path) -> Iterator[Path]:
    return (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else iter([path])
