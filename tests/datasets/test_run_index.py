"""One folder of a run that a person would look into."""

import json
import shutil
from pathlib import Path

import pytest

from figure_kedro.datasets.run_index import MANIFEST, RunIndex, RunIndexDataset
from figure_kedro.errors import UserError


@pytest.fixture
def index(tmp_path):
    """Of a run with weights and embeddings, whose pictures are still to be made."""
    data = tmp_path / "data"
    weights, embeddings = data / "06_models" / "a" / "weights.safetensors", data / "07_model_output" / "a"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    embeddings.mkdir(parents=True)
    (embeddings / "I.parquet").write_bytes(b"table")
    report = data / "08_reporting" / "b"
    paths = {
        "weights": weights,
        "embeddings": embeddings,
        "pictures": report,
        "report": report / "results.md",
        "predictions": data / "07_model_output" / "b" / "predictions.parquet",
    }
    return RunIndex(data / "runs" / "csbm" / "figure-8-b", "b", paths)


def test_links_lead_to_what_is_there_also_after_the_folder_is_moved(index, tmp_path):
    index.write()
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    folder = moved / "runs" / "csbm" / "figure-8-b"
    assert {path.name for path in folder.iterdir()} == {MANIFEST, "weights.safetensors", "embeddings"}
    assert (folder / "weights.safetensors").read_bytes() == b"weights"
    assert (folder / "embeddings" / "I.parquet").read_bytes() == b"table"
    assert RunIndex.read(folder).existing() == {
        "weights": moved / "06_models" / "a" / "weights.safetensors",
        "embeddings": moved / "07_model_output" / "a",
    }


def test_writing_again_adds_what_has_come(index):
    index.write()
    index.artefacts["report"].parent.mkdir(parents=True)
    index.artefacts["report"].write_text("words")
    index.write()
    assert (index.folder / "report.md").read_text() == "words"
    assert set(json.loads((index.folder / MANIFEST).read_text())["artefacts"]) == set(index.artefacts) - {"predictions"}


def test_a_link_inside_the_folder_is_left_as_it_is(index, tmp_path):
    (tmp_path / "store" / "artifacts").mkdir(parents=True)
    index.artefacts["model"] = index.folder / "model" / "artifacts"
    index.lead_to("model", tmp_path / "store")
    index.write()
    assert (index.folder / "model").resolve() == tmp_path / "store"
    assert RunIndex.read(index.folder).existing()["model"] == tmp_path / "store" / "artifacts"


def test_without_links_the_list_has_the_paths(index, monkeypatch):
    def no_links(*arguments):
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", no_links)
    index.write()
    assert [path.name for path in index.folder.iterdir()] == [MANIFEST]
    assert set(RunIndex.read(index.folder).existing()) == {"weights", "embeddings"}


def test_nothing_is_written_for_a_run_that_has_left_nothing(tmp_path):
    RunIndex(tmp_path / "runs", "b", {"weights": tmp_path / "weights"}).write()
    assert not (tmp_path / "runs").exists()


def test_a_record_names_what_is_to_come_but_no_embeddings_that_were_not_kept(index):
    assert set(index.promised()) == set(index.artefacts)
    shutil.rmtree(index.artefacts["embeddings"])
    assert set(index.promised()) == set(index.artefacts) - {"embeddings"}


def test_a_list_of_a_newer_version_is_refused_in_one_line(index):
    index.write()
    (index.folder / MANIFEST).write_text('{"format": 99}')
    with pytest.raises(UserError, match="use a newer version"):
        RunIndex.read(index.folder)


def test_the_catalog_entry_hands_it_out(tmp_path):
    entry = {"weights": {"path": str(tmp_path / "weights")}}
    index = RunIndexDataset(filepath=str(tmp_path / "runs"), key="b", artefacts=entry).load()
    assert (index.folder, index.key, index.artefacts) == (tmp_path / "runs", "b", {"weights": tmp_path / "weights"})
