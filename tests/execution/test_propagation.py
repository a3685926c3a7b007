"""Filters in other processes and on Ray give the bits of this process."""

import numpy as np
import pytest

import work_to_do
from examples import example_graph
from figure_kedro.datasets.handles import BlockStore
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.execution import LocalProcesses, Task, executor, local, use_executor
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.filters import BANKS, normalised_adjacency
from figure_kedro.methods.column_blocks import column_blocks
from figure_kedro.methods.decoupled import Propagation
from figure_kedro.methods.method import METHODS

pytestmark = pytest.mark.usefixtures("one_thread")

NODES = 3000  # so many that arrays are handed over by name


@pytest.fixture
def two_of_ray(small_ray, tmp_path):
    return OnRay(workers=2, folder=tmp_path)


@pytest.fixture
def two_processes(monkeypatch, tmp_path):
    monkeypatch.setattr(local, "allowed_cores", lambda: 2)
    return LocalProcesses(2, tmp_path)


def propagated(allocate=None, direction="auto", features="dense", columns=32):
    graph = example_graph(NODES, directed=direction != "auto", features=features, columns=20)
    bank = BANKS.build(BANKS.parse({"size": 3, "direction": direction}))
    trained = tuple(index for index, identity in enumerate(bank.identities) if not identity)
    propagation = Propagation(trained, graph.features, normalised_adjacency(graph.adjacency), bank, columns, allocate)
    orders = {"true": None, "corrupted": np.random.default_rng(1).permutation(NODES)}
    return [{index: np.hstack(parts) for index, parts in stored.items()} for stored in propagation.run(orders)]


@pytest.mark.parametrize(
    ("others", "direction", "features"),
    [("two_processes", "both", "dense"), ("two_of_ray", "both", "dense"), ("two_of_ray", "auto", "sparse")],
)
def test_propagated_rows_have_the_same_bits_wherever_they_are_made(others, direction, features, tmp_path, request):
    expected = propagated(direction=direction, features=features)
    store = BlockStore(tmp_path / "blocks")
    with use_executor(request.getfixturevalue(others)):
        stores = (None, store.allocate) if others == "two_of_ray" else (store.allocate,)
        found = [propagated(allocate, direction, features, columns=8) for allocate in stores]
    store.clear()
    for ours in found:
        for here, there in zip(expected, ours, strict=True):
            assert here.keys() == there.keys()
            for index, rows in here.items():
                np.testing.assert_array_equal(there[index], rows, strict=True)
    assert not list((tmp_path / "shared").iterdir()), "nothing is left behind"


@pytest.mark.parametrize("method", ["untrained", "propagation"])
def test_embeddings_have_the_same_bits_made_by_tasks(two_of_ray, method):
    graph = example_graph(NODES, columns=20)
    fitted = Representation(settings=METHODS.parse({"method": method}), progress=False).fit(graph)
    expected = fitted.transform(graph)
    with use_executor(two_of_ray):
        found = fitted.transform(graph)
    for name, view in expected.items():
        np.testing.assert_array_equal(found[name], view, strict=True)


def test_a_mistake_in_a_task_is_the_one_line_of_all(two_of_ray):
    with pytest.raises(UserError, match=r"^7 is wrong$"):
        two_of_ray.results([Task(work_to_do.user_error, (7,))], "the work")
    with pytest.raises(UserError, match=r"^the work came to no end: Ray gave it up: [^\n]*$"):
        two_of_ray.results([Task(work_to_do.die, ())], "the work")
    two_of_ray.close()


@pytest.mark.parametrize(
    ("workers", "columns", "times", "blocks"), [(1, 17, 5, 1), (2, 17, 5, 2), (2, 17, 1, 2), (4, 3, 1, 3)]
)
def test_blocks_are_divided_evenly_among_workers(workers, columns, times, blocks, monkeypatch):
    monkeypatch.setattr(executor(), "workers", workers)
    assert len(column_blocks(100, columns, 32, times)) == blocks
