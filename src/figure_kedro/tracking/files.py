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
        for file in _files(path) if size <= limit_mb else ():
            below = file.parent.relative_to(path) if path.is_dir() else Path()
            mlflow.log_artifact(str(file), (Path(name) / below).as_posix())


def _files(path: Path) -> Iterator[Path]:
    """The file, or what is for people in a folder: not the digests, whose name begins with a dot."""
    if not path.is_dir():
        return iter([path])
    files = (file for file in sorted(path.rglob("*")) if file.is_file())
    return (file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts))
