"""Tables of a user's own, read whole or within little memory."""

from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.datasets.sources.kinds.own import Own, OwnSettings
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.memory import Memory, use_memory

LITTLE = 100
"""Bytes."""


def load(folder, **source):
    return Own(OwnSettings(**source)).load(RawFiles(folder), "mine")


def load_large(folder, limit=LITTLE, **source):
    scratch = folder / "scratch"
    with use_memory(Memory(limit, ScratchFolder(scratch))):
        graph = load(folder, **source)
    assert not list(scratch.glob("*")), "nothing is left behind"
    return graph


def write(frame, path):
    frame.to_parquet(path, index=False) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return str(path)
