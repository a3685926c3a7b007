"""Nodes that write under the same key take turns; others do not wait."""

import threading

import pytest
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline, node

from figure_kedro.datasets.files.locks import Lock
from figure_kedro.datasets.sealed import TextDataset
from figure_kedro.turns import Turns


def first(text):
    return text


@pytest.fixture
def catalog(tmp_path):
    places = {
        "graph": "03_primary/toy/g/graph",
        "targets": "03_primary/toy/t/targets",
        "weights": "06_models/toy/r/weights",
        "curve": "08_reporting/toy/r/curve.csv",
        "scores": "08_reporting/toy/e/scores.csv",
    }
    return DataCatalog({name: TextDataset(filepath=str(tmp_path / path)) for name, path in places.items()})


def writes(*names):
    return node(lambda: (), None, list(names), name="-".join(names))


def held(tmp_path):
    return sorted(path.stem for path in tmp_path.glob("locks/*.lock"))


def test_a_node_holds_the_locks_of_the_keys_that_it_writes_under_and_no_others(catalog, tmp_path):
    turns = Turns(catalog)
    for outputs, locks in [
        (["graph", "targets"], ["toy-g", "toy-t"]),
        (["weights", "curve"], ["toy-r"]),
        (["scores"], ["toy-e"]),
        (["memory"], []),
    ]:
        turns.take(writes(*outputs))
        assert held(tmp_path) == locks
    turns.take(writes("scores"))
    turns.end()
    assert held(tmp_path) == []


def test_the_turn_is_kept_from_node_to_node_under_one_key(catalog, tmp_path):
    turns = Turns(catalog)
    turns.take(writes("weights"))
    before = (tmp_path / "locks" / "toy-r.lock").stat().st_ino
    turns.take(writes("curve"))
    assert (tmp_path / "locks" / "toy-r.lock").stat().st_ino == before


def test_another_run_waits_for_the_same_key_and_for_no_other(catalog, tmp_path, caplog):
    caplog.set_level("INFO")
    one, other = Turns(catalog), Turns(catalog)
    one.take(writes("weights"))
    other.take(writes("scores"))
    waiting = threading.Thread(target=other.take, args=(writes("curve"),))
    waiting.start()
    while "which makes the same results" not in caplog.text:
        assert waiting.is_alive()
    assert held(tmp_path) == ["toy-r"], "whoever waits holds nothing that others may wait for"
    one.end()
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    assert caplog.text.count("waiting for process") == 1


def test_a_runner_of_several_nodes_at_a_time_holds_all_from_the_start(catalog, tmp_path):
    turns = Turns(catalog)
    turns.take_all(Pipeline([writes("weights"), writes("scores")]))
    assert held(tmp_path) == ["toy-e", "toy-r"]
    turns.take(writes("weights"))
    assert held(tmp_path) == ["toy-e", "toy-r"]


def test_whoever_has_the_turn_removes_what_others_left_half_written(catalog, tmp_path):
    for layer, name in [("06_models", ".weights.4711"), ("05_model_input", ".propagated.0123abcd.part")]:
        (tmp_path / layer / "toy" / "r").mkdir(parents=True)
        (tmp_path / layer / "toy" / "r" / name).touch()
    (tmp_path / "06_models" / "toy" / "other").mkdir()
    (tmp_path / "06_models" / "toy" / "other" / ".weights.4711").touch()
    Turns(catalog).take(writes("weights"))
    assert [path.name for path in tmp_path.glob("0*/toy/r/.*")] == []
    assert [path.name for path in tmp_path.glob("0*/toy/other/.*")] == [".weights.4711"], "that is somebody else's"


def test_the_lock_is_there_before_the_inputs_are_read(catalog, tmp_path):
    seen = []

    class Input(TextDataset):
        def load(self):
            seen.append(held(tmp_path))
            return "text"

    from kedro.framework.hooks.manager import _create_hook_manager
    from kedro.runner import SequentialRunner

    catalog["input"] = Input(filepath=str(tmp_path / "input.txt"))
    turns, hooks = Turns(catalog), _create_hook_manager()
    hooks.register(turns)
    SequentialRunner().run(Pipeline([node(first, "input", "scores")]), catalog, hooks)
    assert seen == [["toy-e"]]
    assert not Lock(tmp_path / "locks" / "toy-e.lock").acquire_now(), "and after the outputs are written"
    turns.end()
