"""A full disk, a folder without permission, limits, too little memory: one line, exit code 2, nothing half-written."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import torch
from faults_project import PROJECT
from sqlalchemy.exc import OperationalError

from figure_kedro.datasets.files.array_folder import write_arrays
from figure_kedro.datasets.files.sealed_file import write_sealed
from figure_kedro.datasets.files.tensor_file import write_tensors
from figure_kedro.datasets.handles import BlockStore
from figure_kedro.errors import UserError
from figure_kedro.machine_errors import find_user_error

SMALL = "dataset=csbm,source.nodes=3000,representation.dim=4,representation.training.max_epochs=2,evaluation.trials=1"

COMMAND = """
import os, resource, sys
{limit}
from kedro.framework.cli.cli import main
sys.argv = ["kedro", "run", *sys.argv[1:]]
main()
"""


def kedro(limit, *arguments):
    """The real command under a limit, without the right of an administrator to write anywhere."""
    plain = []
    if os.getuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("an administrator may write anywhere, and there is no setpriv to take that away")
        plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    return subprocess.run(
        [*plain, sys.executable, "-c", COMMAND.format(limit=limit), *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def the_line(ended):
    said = ended.stdout + ended.stderr
    assert ended.returncode == 2, said[-3000:]
    assert "Traceback" not in said, said[-3000:]
    return next(line for line in ended.stderr.splitlines() if line.startswith("Error: "))


def test_a_limit_of_file_sizes_is_one_line_and_leaves_nothing_that_is_taken_for_whole(tmp_path):
    data = tmp_path / "data"
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))"
    params = f"{SMALL},source.features=200,data_folder={data}"
    line = the_line(kedro(limit, "--pipelines=data_processing", "--params", params))
    assert "cannot be written" in line or "cannot be used" in line
    assert not list(data.rglob("description.json"))
    assert not [path for path in data.rglob(".*-*") if path.is_dir()]


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path):
    tmp_path.chmod(0o555)
    ended = kedro("", "--pipelines=data_processing", "--params", f"{SMALL},data_folder={tmp_path / 'data'}")
    line = the_line(ended)
    assert f"{tmp_path / 'data'}" in line
    assert "permission denied" in line


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("write", "broken"),
    [
        (lambda path: write_arrays(path, {"a": np.ones(1000)}, {}), "tempfile.mkdtemp"),
        (lambda path: write_tensors(path, {"a": torch.ones(1000)}, {}), "os.replace"),
        (lambda path: write_sealed(path, "x" * 1000), "pathlib.Path.write_bytes"),
        (lambda path: BlockStore(path).allocate("b", (1000,)), "os.posix_fallocate"),
    ],
)
def test_a_full_disk_is_one_line_with_path_and_need_and_nothing_half_is_left(tmp_path, monkeypatch, write, broken):
    monkeypatch.setattr(broken, full)
    with pytest.raises(UserError) as error:
        write(tmp_path / "data" / "x")
    line = str(error.value)
    assert line.startswith(f"{tmp_path / 'data' / 'x'} cannot be written: no space left on device; it takes ")
    assert "free there; free some space, or set data_folder" in line
    left = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and ".digests" not in path.parts]
    assert not [path for path in left if path.parent.name != "x"]


def test_a_mapped_file_has_its_space_before_it_is_filled(tmp_path):
    store = BlockStore(tmp_path / "blocks")
    array = store.allocate("b", (1000, 100))
    (file,) = tmp_path.rglob("b.npy")
    assert file.stat().st_blocks * 512 >= array.nbytes, "a hole would end the process when the disk is full"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "too little memory"),
        (
            np._core._exceptions._ArrayMemoryError((10**9, 10**3), np.dtype("f8")),
            "too little memory for this (7.28 TiB",
        ),
        (
            RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
            "too little memory",
        ),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), "too little memory"),
        (PermissionError(errno.EACCES, "Permission denied", "/x/y"), "/x/y cannot be written: permission denied"),
        (OSError(errno.EROFS, "Read-only file system", "/x/y"), "/x/y cannot be written: read-only file system"),
        (OSError(errno.EMFILE, "Too many open files", "/x/y"), "ulimit -n"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/x/y"), "shorter path"),
        (OSError(errno.ENOSPC, "No space left on device"), "free some space"),
        (OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full")), "disk is full"),
        (Exception("(sqlite3.OperationalError) attempt to write a readonly database\n[SQL: ...]"), "readonly database"),
    ],
)
def test_what_the_machine_lacks_is_one_line_wherever_it_was_found(error, said):
    try:
        try:
            raise error
        except Exception as cause:
            raise ValueError("wrapped by somebody") from cause
    except ValueError as wrapped:
        found = find_user_error(wrapped)
    assert said in str(found)
    assert "\n" not in str(found)


def test_an_error_of_the_program_stays_one():
    assert find_user_error(ValueError("a bug")) is None
    assert find_user_error(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
    assert find_user_error(None) is None
