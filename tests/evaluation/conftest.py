"""Embeddings, labels and one split: what heads are evaluated on."""

import numpy as np
import pytest

from figure_kedro.graph.splits import random_splits
from split_problems import embeddings_of


@pytest.fixture
def problem():
    """Three classes, one view that knows them and one that does not."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=150)
    noise, signal = rng.normal(size=(2, 150, 6)).astype(np.float32)
    signal += 2 * np.eye(3, 6, dtype=np.float32)[labels]
    blocks = {"noise": noise, "signal": signal}
    return embeddings_of(blocks, labels), labels, random_splits(labels, 1, 0.5, 0.25, seed=1)[0]


@pytest.fixture
def imbalanced():
    """One node of ten is of the second class, and two of three views know a little about it."""
    rng = np.random.default_rng(0)
    labels = (rng.random(400) < 0.1).astype(int)
    blocks = {name: rng.normal(size=(400, 20)).astype(np.float32) for name in ("noise", "first", "second")}
    blocks["first"][:, 0] += 1.2 * labels
    blocks["second"][:, 1] += 1.2 * labels
    return embeddings_of(blocks, labels), labels, random_splits(labels, 1, 0.5, 0.25, seed=1)[0]
