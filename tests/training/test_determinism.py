"""What is the same to the bit, and what is not; docs/guarantees.md says it to users."""

import subprocess
import sys

import numpy as np
import pytest

from figure_kedro.estimator import FiGURe
from figure_kedro.graph import graph_from_edges
from figure_kedro.methods.kinds.figure import FigureSettings

SCRIPT = """
from test_determinism import trained
import hashlib

for threads in (1, 2):
    fitted = trained(threads)
    content = b"".join(tensor.numpy().tobytes() for tensor in fitted.model_.state_dict().values())
    print(threads, hashlib.sha256(content).hexdigest(), fitted.record_.losses)
"""


def trained(threads):
    rng = np.random.default_rng(0)
    source, target = rng.integers(1500, size=(2, 6000))
    features = rng.normal(size=(1500, 40)).astype(np.float32)
    graph = graph_from_edges(source, target, num_nodes=1500, features=features, name="toy")
    settings = FigureSettings(dim=32, training={"max_epochs": 3, "threads": threads, "device": "cpu"})
    return FiGURe(settings=settings, progress=False).fit(graph)


def test_two_processes_with_equal_threads_have_equal_bits():
    command = [sys.executable, "-c", SCRIPT]
    told = [
        subprocess.run(command, cwd=__file__.rpartition("/")[0], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert told[0].splitlines() == told[1].splitlines()
    assert len(told[0].splitlines()) == 2


def test_one_thread_and_two_have_losses_that_agree_to_six_digits():
    one, two = (trained(threads).record_.losses for threads in (1, 2))
    assert one == pytest.approx(two, rel=1e-6)
