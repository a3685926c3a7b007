"""Splits are evaluated in this process, in local processes and on Ray with the same results."""

import dataclasses
import os

import numpy as np
import optuna
import pytest

import parts_to_watch
import work_to_do
from figure_kedro.datasets.files.trial_journal import TrialStorage
from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS
from figure_kedro.evaluation.side_by_side import evaluate_splits
from figure_kedro.evaluation.split_work import SplitWork
from figure_kedro.execution import LocalProcesses, Task, ThisProcess, local, shared_folder
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.projections import MAPS, Projection

pytestmark = pytest.mark.usefixtures("one_thread")
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
    monkeypatch.setattr(shared_folder, "BY_NAME", 100)  # so that arrays go by path


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
    work = dataclasses.replace(work_of(graph, kind=parts_to_watch.WorkThatKills), marker=str(tmp_path / "died"))
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
    work = dataclasses.replace(work_of(graph, kind=parts_to_watch.WorkThatTells), folder=str(made))
    folder = tmp_path / "journals"

    def stop(split, result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_splits(work, journal(folder), on_ray, on_split=stop)
    finished = [path.stem.removeprefix("split_") for path in folder.glob("evaluation_under_way/*/split_?.safetensors")]
    assert finished
    fitted = []
    results = evaluate_splits(
        work, journal(folder), ThisProcess(), lambda of, ended: fitted.append(of), lambda of, result: None
    )
    assert_equal(results, undisturbed[0])
    assert all(fitted.count(int(split)) == 1 for split in finished), "what was finished is not looked at again"
    assert trials(journal(folder)) == undisturbed[1]
    fits = sum(len(found) for found in undisturbed[1].values())
    assert len(list(made.iterdir())) <= fits + 2 * 2, "at most what was under way, and one fit for its result"


def test_trials_of_a_single_split_are_tried_side_by_side(on_ray, graph, undisturbed, tmp_path):
    made = tmp_path / "fits"
    made.mkdir()
    work = dataclasses.replace(work_of(graph, splits=1, kind=parts_to_watch.WorkThatTells), folder=str(made))
    folder = tmp_path / "journals"
    assert_equal(evaluate_splits(work, journal(folder), on_ray), undisturbed[0][:1])
    assert list(trials(journal(folder)).values()) == [undisturbed[1][work.study(0)]]
    processes = [path.name.partition("-")[0] for path in made.iterdir()]
    assert len(processes) == len(undisturbed[1][work.study(0)]), "nothing is fitted twice"
    assert str(os.getpid()) not in processes


def test_a_mistake_in_one_split_is_the_same_line_wherever_it_is_found(on_ray, graph, tmp_path):
    splits = graph.targets.splits.copy()
    splits[2][graph.targets.labels > 0] = 3
    one_class = dataclasses.replace(graph, targets=dataclasses.replace(graph.targets, splits=splits), trusted=True)
    with pytest.raises(UserError, match=r"^the training labels hold fewer than two classes; choose other splits"):
        evaluate_splits(work_of(one_class), journal(tmp_path), on_ray)


def test_a_process_that_does_a_task_starts_no_others(others):
    tasks = [Task(work_to_do.executor_inside, ("local", 2))]
    assert [result for _, result in others.run(tasks)] == ["ThisProcess"]


@pytest.mark.slow
def test_all_splits_are_evaluated_though_a_machine_is_killed(cluster, graph, undisturbed, tmp_path):
    def kill_one(split, result):
        if len(cluster.pair) == 2:
            cluster.remove_node(cluster.pair.pop(), allow_graceful=False)

    executor = OnRay(cluster.address, workers=2, folder=tmp_path)
    assert_equal(evaluate_splits(work_of(graph), journal(tmp_path), executor, on_split=kill_one), undisturbed[0])
    assert len(cluster.pair) == 1
    assert trials(journal(tmp_path)) == undisturbed[1]
