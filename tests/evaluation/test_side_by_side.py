"""Splits are evaluated in this process, in local processes and on Ray with the same results."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import optuna
import pytest

import work_to_do
from figure_kedro.datasets.files.trial_journal import TrialStorage
from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS
from figure_kedro.evaluation.side_by_side import evaluate_splits
from figure_kedro.evaluation.split_work import SplitWork
from figure_kedro.execution import LocalProcesses, ThisProcess, by_path, local
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.projections import MAPS, Projection

pytestmark = pytest.mark.usefixtures("one_thread")
TESTS = Path(__file__).parents[1]
NETWORK = {"head": "gcn", "device": "cpu", "max_epochs": 10, "trials": 3, "space": {"hidden": [4], "dropout": [0.0]}}


@pytest.fixture(scope="module")
def graph():
    return generate_csbm(150, 8.0, 3, 0.6, 6, 1.0, 4, 0, "toy")


def work_of(graph, splits=4, kind=SplitWork, **head):
    rng = np.random.default_rng(0)
    signal = np.asarray(graph.features, dtype=np.float32)
    views = {"noise": rng.normal(size=signal.shape).astype(np.float32), "signal": signal}
    projection = Projection.fit(MAPS.parse({"map": "fourier", "dim": 16, "scale": "rms"}), list(views.values()))
    embeddings = Embeddings(
        tuple(views), graph.ids, signal.shape[1], compute=lambda: iter(()), graph=lambda: graph, arrays=views
    )
    settings = HEADS.parse({"trials": 12, "splits": splits, **head})
    work = SplitWork.of(embeddings, projection, graph.targets, settings, ("accuracy", "macro_f1"))
    return kind(**{part.name: getattr(work, part.name) for part in dataclasses.fields(SplitWork)})


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(local, "allowed_cores", lambda: 2)
    monkeypatch.setattr(by_path, "SMALL_BYTES", 100)  # so that arrays go by path


@pytest.fixture(scope="module")
def small_ray():
    ray = pytest.importorskip("ray")
    before = dict(os.environ)
    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join([str(TESTS), before.get("PYTHONPATH", "")]),
    }
    quiet = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20, **quiet)
    yield ray
    ray.shutdown()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def on_ray(two_cores, small_ray):
    """Processes that one test after the other uses, so that it need not wait until they have started."""
    return OnRay(workers=2)


@pytest.fixture(params=["local processes", "Ray"])
def others(request, two_cores):
    return request.getfixturevalue("on_ray") if request.param == "Ray" else LocalProcesses(2)


def journal(folder, name="evaluation_trials.journal"):
    return TrialStorage(folder / name)


def trials(storage):
    """What a journal has, by the name of the study."""
    studies = [optuna.load_study(study_name=name, storage=storage) for name in optuna.get_all_study_names(storage)]
    return {
        study.study_name: [
            (trial.state, trial.params, trial.values, trial.user_attrs, trial.intermediate_values)
            for trial in study.trials
        ]
        for study in studies
    }


def assert_equal(results, expected):
    assert len(results) == len(expected)
    for one, other in zip(results, expected, strict=True):
        one, other = dataclasses.asdict(one), dataclasses.asdict(other)
        np.testing.assert_array_equal(one.pop("predictions"), other.pop("predictions"))
        one["cost"].pop("epoch_seconds", None), other["cost"].pop("epoch_seconds", None)
        assert one == other


@pytest.fixture(scope="module")
def undisturbed(graph, tmp_path_factory):
    """What this process makes of the work, and its journal."""
    storage = journal(tmp_path_factory.mktemp("undisturbed"))
    return evaluate_splits(work_of(graph), storage, ThisProcess()), trials(storage)


def test_other_processes_find_what_this_one_finds_though_one_of_them_is_killed(others, graph, undisturbed, tmp_path):
    work = dataclasses.replace(work_of(graph, kind=work_to_do.WorkThatKills), marker=str(tmp_path / "died"))
    folder, ended, fits = tmp_path / "journals", [], []
    results = evaluate_splits(
        work, journal(folder), others, lambda *told: fits.append(told), lambda split, result: ended.append(split)
    )
    assert (tmp_path / "died").exists()
    assert_equal(results, undisturbed[0])
    assert trials(journal(folder)) == undisturbed[1]
    assert sorted(ended) == [0, 1, 2, 3]
    assert {(split, work.fits) for split in range(4)} <= set(fits), "progress is told of all splits"
    assert [path.name for path in folder.iterdir()] == ["evaluation_trials.journal"], "nothing else is left"


def test_a_network_on_the_graph_is_trained_elsewhere_to_the_same_predictions(on_ray, graph, tmp_path):
    named = dataclasses.replace(graph, ids=np.array([f"node {i}" for i in graph.ids], dtype=object))
    work = work_of(named, splits=2, **NETWORK)
    expected = evaluate_splits(work, journal(tmp_path / "a"), ThisProcess())
    assert_equal(evaluate_splits(work, journal(tmp_path / "b"), on_ray), expected)


def test_a_run_that_was_stopped_goes_on_here_without_fitting_again(on_ray, graph, undisturbed, tmp_path):
    made = tmp_path / "fits"
    made.mkdir()
    work = dataclasses.replace(work_of(graph, kind=work_to_do.WorkThatTells), folder=str(made))
    folder = tmp_path / "journals"

    def stop(split, result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_splits(work, journal(folder), on_ray, on_split=stop)
    (finished,) = folder.glob("evaluation_under_way/*/split_?.safetensors")
    split = int(finished.stem.removeprefix("split_"))
    fitted = []
    results = evaluate_splits(
        work, journal(folder), ThisProcess(), lambda of, ended: fitted.append(of), lambda of, result: None
    )
    assert_equal(results, undisturbed[0])
    assert fitted.count(split) == 1, "a split that was finished is not looked at again"
    assert trials(journal(folder)) == undisturbed[1]
    fits = sum(len(found) for found in undisturbed[1].values())
    assert len(list(made.iterdir())) <= fits + 2 * 2, "at most what was under way, and one fit for its result"


def test_trials_of_a_single_split_are_tried_side_by_side(on_ray, graph, undisturbed, tmp_path):
    made = tmp_path / "fits"
    made.mkdir()
    work = dataclasses.replace(work_of(graph, splits=1, kind=work_to_do.WorkThatTells), folder=str(made))
    folder = tmp_path / "journals"
    assert_equal(evaluate_splits(work, journal(folder), on_ray), undisturbed[0][:1])
    assert list(trials(journal(folder)).values()) == [undisturbed[1][work.study(0)]]
    processes = [path.name.partition("-")[0] for path in made.iterdir()]
    assert len(processes) == len(undisturbed[1][work.study(0)]), "nothing is fitted twice"
    assert len(set(processes)) == 2


def test_a_mistake_in_one_split_is_the_same_line_wherever_it_is_found(on_ray, graph, tmp_path):
    splits = graph.targets.splits.copy()
    splits[2][graph.targets.labels > 0] = 3
    one_class = dataclasses.replace(graph, targets=dataclasses.replace(graph.targets, splits=splits), trusted=True)
    with pytest.raises(UserError, match=r"^the training labels hold fewer than two classes; choose other splits"):
        evaluate_splits(work_of(one_class), journal(tmp_path), on_ray)


def test_no_message_holds_an_array(two_cores, graph, tmp_path):
    work = work_of(graph)
    message = by_path.pack(work, tmp_path)
    again = by_path.unpack(message)
    np.testing.assert_array_equal(again.views[1], work.views[1])
    assert len(message) < 5000
    again.views[1][:] = 7
    np.testing.assert_array_equal(by_path.unpack(message).views[1], work.views[1])


def test_an_array_that_is_mapped_from_a_file_goes_by_that_file(two_cores, tmp_path):
    whole = np.arange(600.0).reshape(30, 20)
    np.save(tmp_path / "whole.npy", whole)
    (tmp_path / "folder").mkdir()
    mapped = np.load(tmp_path / "whole.npy", mmap_mode="r")
    sent = {"rows": np.asarray(mapped)[3:17][2:], "columns": mapped[:, 1:15], "turned": whole.T}
    again = by_path.unpack(by_path.pack(sent, tmp_path / "folder"))
    for name, array in sent.items():
        np.testing.assert_array_equal(again[name], array)
    assert Path(again["rows"].filename) == tmp_path / "whole.npy"
    assert len(list((tmp_path / "folder").iterdir())) == 2, "what is not in one piece is written"
