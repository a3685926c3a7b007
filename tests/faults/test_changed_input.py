"""After a change in the user's files no pipeline uses what was made of the old ones."""

import shutil

import pytest
from faults_project import PROJECT

from figure_kedro.experiments.cells import make

SMALL = {
    "dataset": "own",
    "source.label_column": "label",
    "source.random_splits": 2,
    "representation.dim": 3,
    "representation.training.max_epochs": 3,
    "representation.training.threads": 1,
    "evaluation.trials": 2,
}
LEFT = {
    "representation": ("06_models/*/*/settings.json", "08_reporting/*/*/loss_curve.csv"),
    "projection": ("07_model_output/*/*/projection.json",),
    "evaluation": ("07_model_output/*/*/split_predictions.parquet", "08_reporting/*/*/split_alphas.csv"),
    "reporting": ("08_reporting/*/*/alphas.png", "08_reporting/*/*/confusion_matrix.png"),
}


def tables(folder, step, label):
    folder.mkdir(exist_ok=True)
    edges = "".join(f"{i},{(step * i + 1) % 60}\n" for i in range(60))
    nodes = "".join(f"{i},{i % 5},{i % 7},{(i // label) % 2}\n" for i in range(60))
    (folder / "edges.csv").write_text(f"from,to\n{edges}")
    (folder / "nodes.csv").write_text(f"id,size,age,label\n{nodes}")
    return {"source.edges": str(folder / "edges.csv"), "source.nodes": str(folder / "nodes.csv")}


def run(data, files, pipeline):
    outcome = make(str(PROJECT), SMALL | files | {"data_folder": str(data)}, pipeline)
    assert outcome.error == "", outcome.details


CHANGES = {"edges": (11, 1), "labels": (7, 3)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The user's files, at one place whatever they hold."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def before(tmp_path_factory, files):
    """A data folder that a whole run has filled before the files are changed."""
    data = tmp_path_factory.mktemp("before")
    run(data, tables(files, 7, 1), "__default__")
    return data


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, files, before):
    """Data folders of fresh projects, by what was changed."""
    folders = {change: tmp_path_factory.mktemp(change) for change in CHANGES}
    for change, folder in folders.items():
        run(folder, tables(files, *CHANGES[change]), "__default__")
    return folders


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("pipeline", LEFT)
def test_every_pipeline_alone_gives_what_a_fresh_project_gives(tmp_path, files, before, fresh, pipeline, change):
    used = tmp_path / "used"
    shutil.copytree(before, used)
    run(used, tables(files, *CHANGES[change]), pipeline)
    for pattern in LEFT[pipeline]:
        (expected,) = fresh[change].glob(pattern)
        made = used / expected.relative_to(fresh[change])
        assert made.exists(), "the key follows the content"
        if "seconds" not in expected.read_text(errors="replace"):
            assert made.read_bytes() == expected.read_bytes()
    if change == "edges":
        assert len(list(used.glob("06_models/*/*/weights.safetensors"))) == 2, "another encoder"
