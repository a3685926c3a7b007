"""Which files of a run MLflow gets."""

import mlflow
import pytest

from figure_kedro.datasets.graph_dataset import GraphDataset
from figure_kedro.graph import graph_from_edges
from figure_kedro.tracking.files import log_files
from figure_kedro.tracking.graph_input import GraphInput


@pytest.fixture
def run(tmp_path):
    before = mlflow.get_tracking_uri()
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    number = client.create_experiment("files", artifact_location=(tmp_path / "kept").as_uri())
    with mlflow.start_run(experiment_id=number) as active:
        yield lambda: client.get_run(active.info.run_id)
    mlflow.set_tracking_uri(before)


def test_small_files_and_folders_are_copied_and_large_ones_are_not(run, tmp_path):
    folder, large = tmp_path / "pages", tmp_path / "weights.safetensors"
    folder.mkdir()
    (folder / "page.md").write_text("words")
    (folder / ".digests").mkdir()
    (folder / ".digests" / "page.md").write_text("for no people")
    large.write_bytes(bytes(2**20))
    log_files({"report": folder, "small": folder / "page.md", "weights": large}, limit_mb=0.5)
    kept = {path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert {name.partition("artifacts/")[2] for name in kept} == {"report/page.md", "small/page.md"}


def test_a_graph_is_an_input_with_its_checksum_and_size(run, tmp_path):
    graph = graph_from_edges([0, 1], [1, 2], num_nodes=3, name="path")
    stored = GraphDataset(filepath=str(tmp_path / "graph"))
    stored.save(graph)
    mlflow.log_input(GraphInput(stored.profile(), {"kind": "own", "edges": "edges.csv"}))
    (logged,) = run().inputs.dataset_inputs
    assert logged.dataset.name == "path"
    assert graph.checksum.startswith(logged.dataset.digest)
    assert '"nodes": 3, "edges": 2' in logged.dataset.profile
    assert "edges.csv" in logged.dataset.source
