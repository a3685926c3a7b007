"""A run on local data asks nobody anything."""

import ast
import os
import subprocess
import sys

from faults_project import PROJECT
from packaging.version import Version

from figure_kedro import telemetry
from figure_kedro.tracking import ui

WATCH = """
import os, socket
ask = socket.getaddrinfo
def watched(host, *args, **kwargs):
    with open(os.environ["ASKED"], "a") as file:
        file.write(f"{host}\\n")
    return ask("127.0.0.1", *args, **kwargs)
socket.getaddrinfo = watched
"""


def test_a_plain_run_looks_up_no_host(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    asked = tmp_path / "asked"
    # the last ones switch telemetry off by themselves
    left_out = {"MLFLOW_TRACKING_URI", "PYTEST_CURRENT_TEST", "CI", *telemetry.OFF}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"ASKED": str(asked), "PYTHONPATH": f"{tmp_path}{os.pathsep}{environment.get('PYTHONPATH', '')}"}
    small = "dataset=csbm,source.nodes=60,representation.dim=2,representation.training.max_epochs=2"
    command = [
        sys.executable,
        "-m",
        "kedro",
        "run",
        "--pipelines=representation",
        "--params",
        f"{small},data_folder={tmp_path}",
    ]
    ended = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert not asked.exists(), asked.read_text()


def test_nothing_in_the_package_unpickles_evaluates_or_loads_unsafely():
    forbidden = {"eval", "exec", "compile", "__import__"}
    attributes = {("torch", "load"), ("yaml", "load"), ("yaml", "unsafe_load"), ("yaml", "full_load"), ("os", "system")}
    for file in (PROJECT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
                found = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"} & set(names)
                # processes of one run talk to each other as those of multiprocessing and Ray do; no file is read so
                assert found <= ({"pickle"} if file.parent.name == "execution" else set()), file
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                assert name not in forbidden, (file, node.lineno)
                if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                    assert (node.func.value.id, node.func.attr) not in attributes, (file, node.lineno)
                for keyword in node.keywords:
                    if keyword.arg in ("allow_pickle", "shell"):
                        assert getattr(keyword.value, "value", None) is False, (file, node.lineno)


def test_kedro_viz_and_its_pages_do_not_ask_the_package_index(monkeypatch):
    import kedro_viz
    import kedro_viz.api.rest.responses.version as page
    import kedro_viz.integrations.pypi as index

    monkeypatch.setattr(index, "get_latest_version", lambda: 1 / 0)
    monkeypatch.setattr(page, "get_latest_version", lambda: 1 / 0)
    telemetry.switch_off()
    assert not index.is_running_outdated_version(Version(kedro_viz.__version__), index.get_latest_version())
    answer = page.get_version_response()
    assert (answer.latest, answer.is_outdated) == (kedro_viz.__version__, False)


def test_servers_that_we_document_listen_on_this_machine_alone():
    texts = [path.read_text() for path in (PROJECT / "README.md", *(PROJECT / "docs").glob("*.md"))]
    started = [line for text in texts for line in text.splitlines() if "mlflow ui" in line and "--backend" in line]
    assert all("--host 127.0.0.1" in line for line in started)
    assert ui.HOST == "127.0.0.1"
