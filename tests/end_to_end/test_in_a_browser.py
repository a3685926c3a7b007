"""What a person sees of a run in a browser: its page, Kedro-Viz and MLflow."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser import MISSING, Browser, wait_for_server

PROJECT = Path(__file__).parents[2]
SMALL = "source.nodes=200,source.degree=8,representation.dim=8,representation.training.max_epochs=5,evaluation.trials=2"

pytestmark = [
    pytest.mark.skipif(MISSING, reason="Chromium and its driver are not installed"),
    pytest.mark.slow,  # two servers and a browser take half a minute to start
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    window = Browser(tmp_path_factory.mktemp("browser"))
    yield window
    window.close()


@pytest.fixture(scope="module")
def environment():
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    # what is printed stays in one line, and MLflow starts no workers
    return kept | {"COLUMNS": "250", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}


@pytest.fixture(scope="module")
def run(tmp_path_factory, environment):
    """The data folder, the record and the last lines of a small run."""
    data = tmp_path_factory.mktemp("data")
    params = f"dataset=csbm,data_folder={data},{SMALL},evaluation.splits=2"
    command = [sys.executable, "-m", "kedro", "run", "--params", params]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    (summary,) = data.glob("08_reporting/csbm/*/summary.json")
    return data, summary, json.loads(summary.read_text()), params, done.stdout


@contextmanager
def server(command, environment, address):
    process = subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
    )
    try:
        wait_for_server(address)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with its workers; it holds nothing that must be kept
        process.wait(timeout=30)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_page_opens_from_disk_with_its_numbers_and_every_picture_drawn(browser, run):
    _, summary, record, params, _ = run
    browser.open(f"file://{summary.parent / 'report.html'}")
    text = browser.text()
    assert f"{record['test_mean']:.2f} ({record['test_std']:.2f}) %" in text
    assert params in text
    sizes = browser.run("return [...document.images].map(image => image.naturalWidth)")
    assert len(sizes) == 6
    assert min(sizes) > 300, "a picture that cannot be drawn has no width"


@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_is_no_wider_than_the_window(browser, run, width):
    browser._post("/window/rect", {"width": width, "height": 900})
    browser.open(f"file://{run[1].parent / 'report.html'}")
    assert browser.run("return document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_kedro_viz_shows_the_picture_the_rows_and_the_numbers_of_the_run(browser, run, environment):
    data, _, record, params, _ = run
    port = free_port()
    command = [sys.executable, "-m", "kedro", "viz", "run", "--no-browser", "--port", str(port), "--params", params]
    browser._post("/window/rect", {"width": 1400, "height": 1000})
    with server(command, environment, f"http://127.0.0.1:{port}") as address:
        browser.open(f"{address}/api/main")
        main = json.loads(browser.text())
        layers = ["raw", "primary", "model_input", "models", "model_output", "reporting"]
        assert main["layers"] == layers
        numbers = {node["name"]: node["id"] for node in main["nodes"]}
        browser.open(f"{address}/?pid=__default__&expandAllPipelines=true&sid={numbers['tsne']}")
        assert browser.wait_for("return [...document.images].some(i => i.src.startsWith('data:image'))")
        for name, expected in (
            ("embeddings", "A^2"),
            ("results_table", f"{record['test_mean']:.2f}".rstrip("0")),
            ("dataset_statistics", "200"),
        ):
            browser.open(f"{address}/?pid=__default__&expandAllPipelines=true&sid={numbers[name]}")
            assert browser.wait_for("return document.querySelector('table') !== null"), name
            assert expected in browser.run("return document.querySelector('table').innerText"), name
        browser.picture(data / "viz.png")


def test_mlflow_shows_the_run_its_number_and_its_page(browser, run, environment):
    data, _, record, _, printed = run
    told = re.search(r"kedro mlflow ui --params \S+", printed).group()  # the whole command, as the run prints it
    port = free_port()
    command = [sys.executable, "-m", *told.split(), "--port", str(port)]
    with server(command, environment, f"http://127.0.0.1:{port}") as address:
        browser.open(f"{address}/#/experiments/1/runs")
        assert browser.wait_for("return document.body.innerText.includes('csbm figure 8')")
        path = browser.wait_for("return [...document.links].map(a => a.hash).find(h => /runs\\/[0-9a-f]{32}/.test(h))")
        identifier = re.search(r"[0-9a-f]{32}", path).group()
        browser.open(f"{address}/#/experiments/1/runs/{identifier}")
        score = f"{record['test_mean']:.1f}"
        assert browser.wait_for(f"return document.body.innerText.includes('{score}')"), score
        browser.picture(data / "mlflow.png")
        browser.open(f"{address}/#/experiments/1/runs/{identifier}/artifacts/report/report.html")
        assert browser.wait_for("return document.querySelector('iframe') !== null")
        browser.picture(data / "mlflow_report.png")
