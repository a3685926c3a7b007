"""The packaged model where this checkout is not: an environment that has the built wheel, and MLflow's own commands."""

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from pathlib import Path

import pytest

from packaged_model import post

PROJECT = Path(__file__).parents[2]
NODE = {"columns": ["id", "neighbours", "height", "width", "depth"], "data": [[100, [0, 3], 1.0, 2.0, 0.5]]}

pytestmark = pytest.mark.slow


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """What a wheel is built from, in a place where building may leave its traces."""
    folder = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, folder)
    for name in ("src", "conf"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    return folder


@pytest.fixture(scope="module")
def wheel(sources):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", sources / "dist", "."]
    run(command, cwd=sources)
    (path,) = (sources / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A virtual environment with the wheel, and the installed packages but not the editable install beside them."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]).strip())
    run([sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", site, wheel])
    (site / "installed.pth").write_text(sysconfig.get_paths()["purelib"])  # its own .pth files are not followed
    for name in ("mlflow", "uvicorn"):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {python} -m {name} "$@"\n')
        script.chmod(0o755)
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    variables["PATH"] = f"{folder / 'bin'}{os.pathsep}{variables['PATH']}"
    options = {"cwd": folder, "env": variables}
    where = run([python, "-c", "import figure_kedro; print(figure_kedro.__file__)"], **options)
    assert Path(where.strip()).is_relative_to(site)
    return options


@pytest.fixture(scope="module")
def model(packaged, tmp_path_factory):
    """The folder of the model, moved away from where it was made."""
    from figure_kedro.serving.package import local_path

    return Path(shutil.copytree(local_path(packaged[3]), tmp_path_factory.mktemp("elsewhere") / "model"))


@pytest.fixture(scope="module")
def port(environment, model):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    command = ["mlflow", "models", "serve", "--env-manager", "local", "-m", model, "-p", str(number), "-h", "127.0.0.1"]
    server = subprocess.Popen(
        command, **environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 180
        while not _answers(number):
            assert server.poll() is None, server.communicate()[0]
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.5)
        yield number
    finally:
        os.killpg(server.pid, 15)
        server.wait(timeout=60)


def _answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_the_server_answers_new_nodes_as_the_model_does_here(port, packaged):
    import pandas as pd

    status, answer = post(port, {"dataframe_split": NODE})
    assert status == 200
    (expected,) = packaged[-1].predict(pd.DataFrame(NODE["data"], columns=NODE["columns"])).to_dict("records")
    (found,) = answer["predictions"]
    assert found["predicted"] == expected["predicted"]
    assert found["p_yes"] == pytest.approx(expected["p_yes"], abs=1e-6)


def test_a_wrong_request_is_refused_and_the_next_one_answered(port):
    wrong = {"columns": NODE["columns"][:-1], "data": [NODE["data"][0][:-1]]}
    status, answer = post(port, {"dataframe_split": wrong})
    assert (status, answer["message"]) == (400, "the request has no column 'depth', which is a feature of ring")
    assert post(port, {"dataframe_split": NODE})[0] == 200


def test_a_batch_is_predicted_from_a_file(environment, model, tmp_path):
    (tmp_path / "in.json").write_text(json.dumps({"dataframe_split": NODE}))
    command = ["mlflow", "models", "predict", "--env-manager", "local", "-m", model, "-t", "json"]
    run([*command, "-i", tmp_path / "in.json", "-o", tmp_path / "out.json"], **environment)
    assert json.loads((tmp_path / "out.json").read_text())["predictions"][0]["id"] == 100


def test_the_wheel_has_every_file_of_the_package(wheel, environment):
    listed = run([sys.executable, "-m", "zipfile", "-l", wheel])
    package = PROJECT / "src" / "figure_kedro"
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    missing = [path for path in files if f"figure_kedro/{path.relative_to(package).as_posix()} " not in listed]
    assert missing == []


def test_kedro_package_makes_a_wheel_and_the_configuration(sources):
    pytest.importorskip("build", reason="kedro package needs the package build")
    run([sys.executable, "-m", "kedro", "package"], cwd=sources)
    names = {path.name for path in (sources / "dist").iterdir()}
    assert any(name.endswith(".whl") for name in names)
    assert "conf-figure_kedro.tar.gz" in names
