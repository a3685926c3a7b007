"""Where the tasks of a run are done changes nothing of it, and mistakes in it are one line before anything runs."""

import socket
from pathlib import Path

import pytest
from safetensors.torch import load_file

TESTS = Path(__file__).parents[1]
SMALL = {
    "dataset": "csbm",
    "source.nodes": 3000,
    "source.features": 20,
    "representation.dim": 8,
    "representation.strategy": "decoupled",
    "representation.decoupled.batch_rows": 1000,
    "representation.training.max_epochs": 5,
    "representation.training.threads": 1,
}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"execution.backend": "rey"}, "execution.backend"),
        ({"execution.workers": 2}, "choose execution.backend=local"),
        ({"execution.address": "auto"}, "choose execution.backend=ray, or leave it out"),
        ({"execution.backend": "local", "execution.workers": 999}, "999 workers on"),
    ],
    ids=str,
)
def test_a_mistake_in_where_tasks_are_done_is_one_line(command, given, line, tmp_path):
    ended = command("run", "--pipelines=representation", **SMALL, data_folder=tmp_path, **given)
    assert ended.exit_code == 2
    assert line in ended.output
    assert "Traceback" not in ended.output


def test_an_address_without_a_cluster_is_one_line_before_anything_runs(command, tmp_path):
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"  # nobody listens
        given = {"execution.backend": "ray", "execution.address": address, "data_folder": tmp_path}
        ended = command("run", "--pipelines=representation", **SMALL, **given)
    assert ended.exit_code == 2
    assert f"there is no Ray cluster at {address}" in ended.output
    assert not list(tmp_path.glob("03_primary/**/*.npy"))


@pytest.mark.slow
def test_a_run_on_ray_leaves_the_bits_of_one_in_this_process(kedro, monkeypatch, tmp_path):
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(TESTS.parent / "src"))
    weights = {}
    for backend in ("this_process", "ray"):
        folder = tmp_path / backend
        given = {"data_folder": folder, "evaluation.trials": 2, "evaluation.splits": 1, "execution.backend": backend}
        ended = kedro("run", **SMALL, **given)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        weights[backend] = {path.parent.name: load_file(path) for path in folder.glob("06_models/csbm/*/weights*")}
        assert list(folder.rglob("*.part*")) == [], "nothing is left behind"
    assert len(weights["ray"]) == 1
    assert weights["ray"].keys() == weights["this_process"].keys(), "under the same key"
    for key, tensors in weights["ray"].items():
        for name, tensor in tensors.items():
            assert tensor.equal(weights["this_process"][key][name]), name
