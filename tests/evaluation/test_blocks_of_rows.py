"""The classifier on blocks of rows ends where the one on all rows ends."""

import numpy as np
import pytest
import torch

from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.combined_loss import CombinedLoss
from figure_kedro.graph import row_blocks
from figure_kedro.memory import Memory, use_memory

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    views = [(rng.standard_normal((400, 6)) + factor * labels[:, None]).astype(np.float32) for factor in (0.3, 0.1)]
    return [torch.from_numpy(view) for view in views], labels


@pytest.fixture
def little(tmp_path, monkeypatch):
    monkeypatch.setattr(row_blocks, "ENTRIES", 300)
    return Memory(16 * 16 * 8 * 30, ScratchFolder(tmp_path))  # thirty rows at a time


def test_loss_and_gradients_are_sums_over_blocks(problem, little):
    views, labels = problem
    generator = torch.Generator().manual_seed(0)
    point = [torch.randn(shape, generator=generator) for shape in ((2, 2), (2, 3, 6), (2, 3))]
    decays = torch.tensor([0.0, 0.1], dtype=torch.float64)
    loss = CombinedLoss(views, torch.from_numpy(labels), 3, centre=True)
    whole = loss(*point, decays)
    with use_memory(little):
        assert len(loss._row_blocks(6)) == 14
        parts = loss(*point, decays)
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"alpha_learning_rate": 0.0}, {"solver": "adam", "max_epochs": 50}])
def test_classifier_is_the_same_in_little_memory(problem, little, settings):
    views, labels = problem
    whole = AlphaClassifier(**settings).fit(views, labels)
    with use_memory(little):
        parts = AlphaClassifier(**settings).fit(views, labels)
    np.testing.assert_allclose(whole.predict_proba(views), parts.predict_proba(views), atol=2e-3)
    assert (whole.predict(views) == parts.predict(views)).mean() > 0.99
