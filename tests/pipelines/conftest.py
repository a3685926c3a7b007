"""A small problem that the nodes of all pipelines work on."""

import numpy as np
import pytest

from figure_kedro.estimator import Representation
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.projections import MAPS, Projection


@pytest.fixture(scope="session")
def problem():
    """A graph of two classes that edges and features tell, with two splits."""
    return generate_csbm(120, 8.0, 2, 0.8, 6, 2.0, 2, 0, "problem")


@pytest.fixture(scope="session")
def operator(problem):
    return Operator.of(problem, BANKS.parse({"size": 3}))


@pytest.fixture(scope="session")
def settings():
    return FigureSettings(dim=4, training={"max_epochs": 5, "threads": 1, "device": "cpu"})


@pytest.fixture(scope="session")
def encoder(problem, operator, settings):
    fitted = Representation(filters=operator.filters, settings=settings, progress=False)
    return fitted.fit(problem, operator=operator)


@pytest.fixture(scope="session")
def embeddings(problem, operator, encoder):
    return encoder.embed(problem.without_targets(), operator)


@pytest.fixture(scope="session")
def projection(embeddings):
    return Projection.fit(MAPS.parse({"map": "fourier", "dim": 16, "scale": "rms"}), list(embeddings.values()))


class Blocks:
    """In place of a store of files: arrays in memory, and whether they were cleared."""

    def __init__(self):
        self.made, self.cleared = [], 0

    def allocate(self, name, shape):
        self.made.append(name)
        return np.empty(shape, dtype=np.float32)

    def clear(self):
        self.cleared += 1


@pytest.fixture
def blocks():
    return Blocks()
