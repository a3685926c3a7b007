"""What several tests need."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from storage_server import storage_server

# small tensors gain nothing from threads, and on busy cores threads wait for each other; commands that tests start, too
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job, whose children would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_database_of_earlier_tests() -> None:
    """``mlflow.set_tracking_uri`` writes to the environment, and commands that a later test starts would follow it."""
    os.environ.pop("MLFLOW_TRACKING_URI", None)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder with published raw files; tests that need it are skipped where there is none."""
    beside_the_project = Path(__file__).parents[2] / "shared" / "data" / "pyg_raw"
    folder = Path(os.environ.get("FIGURE_RAW_MIRROR") or beside_the_project)
    if not folder.is_dir():
        pytest.skip("no published raw files here: set FIGURE_RAW_MIRROR to a folder that has them")
    return folder


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For tensors that are too small to share among threads; and a sum then has one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """A storage of this machine that speaks S3, at this address; the environment leads to it."""
    with storage_server() as address:
        yield address
