"""Files that are there whole or not at all."""

from pathlib import Path

from figure_kedro.datasets.files.writing import beside


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under another name beside its place and rename it."""
    content = content if isinstance(content, bytes) else content.encode("utf-8")
    with beside(path, len(content)) as new:
        new.write_bytes(content)
