"""Small estimators that several tests train, and how their views are compared."""

import numpy as np

from figure_kedro.estimator import FiGURe
from figure_kedro.graph import Targets, random_splits
from figure_kedro.methods.kinds.figure import FigureSettings

TRAINING = {"max_epochs": 4, "threads": 1, "device": "cpu"}
VARIANTS = [
    {},
    {"shared": False},
    {"gcn_layers": 2},
    {"gcn_layers": 3},
    {"mlp_layers": 2},
    {"mlp_layers": 3},
    {"gcn_layers": 2, "mlp_layers": 2, "shared": False},
]


def estimator(dim=5, filters=None, training=TRAINING, **settings):
    """A small one, of four epochs."""
    return FiGURe(dim, filters=filters, settings=FigureSettings(training=training, **settings), progress=False)


def halves(splits, **targets):
    """Two classes and some splits."""
    labels = np.arange(14) % 2
    return Targets(labels, ("a", "b"), random_splits(labels, splits, 0.4, 0.3, seed=splits), **targets)


def assert_same_views(left, right, **tolerance):
    """Equal to the bit, unless a tolerance is given."""
    assert left.keys() == right.keys()
    for name, view in left.items():
        np.testing.assert_allclose(view, right[name], err_msg=name, **(tolerance or {"rtol": 0, "atol": 0}))
