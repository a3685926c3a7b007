"""A user's graph is known by what its files hold, not by where they lie."""

import os
import shutil

import numpy as np
import pytest

from figure_kedro.datasets.files.content import content_digest
from figure_kedro.errors import UserError
from figure_kedro.parameters import STAGES, check_parameters

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,x,label\na,1,red\nb,2,blue\nc,3,red\n"


@pytest.fixture
def own(tmp_path):
    """Settings of a graph in the user's tables."""
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    return source_in(tmp_path)


def source_in(folder, **changes):
    source = {"kind": "own", "edges": str(folder / "edges.csv"), "nodes": str(folder / "nodes.csv")}
    return source | {"label_column": "label"} | changes


def keys(source, **changes):
    parameters = check_parameters({"dataset": "mine", "source": source} | changes)
    return {stage: parameters.key(stage) for stage in STAGES}


def test_same_content_at_another_path_has_the_same_keys(own, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    for name in ("edges.csv", "nodes.csv"):
        shutil.copyfile(tmp_path / name, tmp_path / "elsewhere" / name)
    assert keys(source_in(tmp_path / "elsewhere")) == keys(own)
    monkeypatch.chdir(tmp_path)
    assert keys(own | {"edges": "edges.csv"}) == keys(own)


@pytest.mark.parametrize(("name", "content"), [("edges.csv", f"{EDGES}a,c\n"), ("nodes.csv", NODES.replace("3", "4"))])
def test_a_changed_table_has_other_keys_in_every_stage(own, tmp_path, name, content):
    before = keys(own)
    (tmp_path / name).write_text(content)
    after = keys(own)
    assert all(after[stage] != before[stage] for stage in STAGES)


def test_a_changed_table_of_the_same_size_and_time_but_another_file_has_other_keys(own, tmp_path):
    before = keys(own)
    state = (tmp_path / "edges.csv").stat()
    (tmp_path / "new.csv").write_text(EDGES.replace("b,c", "a,c"))
    os.utime(tmp_path / "new.csv", ns=(state.st_atime_ns, state.st_mtime_ns))
    os.replace(tmp_path / "new.csv", tmp_path / "edges.csv")
    assert (tmp_path / "edges.csv").stat().st_size == state.st_size
    assert keys(own)["graph"] != before["graph"]


def test_a_table_that_is_written_again_has_the_same_keys(own, tmp_path):
    before = keys(own)
    (tmp_path / "edges.csv").write_text(EDGES)
    os.utime(tmp_path / "edges.csv", (1, 1))
    assert keys(own) == before


def test_tables_that_change_places_have_other_keys(own, tmp_path):
    swapped = own | {"edges": own["nodes"], "nodes": own["edges"]}
    assert keys(swapped)["graph"] != keys(own)["graph"]


def test_a_table_that_is_not_changed_is_read_once(own, monkeypatch):
    before = keys(own)
    monkeypatch.setattr("hashlib.file_digest", None)
    assert keys(own) == before


@pytest.mark.parametrize("missing", ["edges", "nodes"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_missing_file_is_one_line(own, tmp_path, missing, stage):
    parameters = check_parameters({"dataset": "mine", "source": own | {missing: str(tmp_path / "nowhere.csv")}})
    with pytest.raises(UserError, match=r"there is no file .*nowhere\.csv that can be read") as error:
        parameters.key(stage)
    assert "\n" not in str(error.value)
    assert str(os.getcwd()) in str(error.value)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(UserError, match="there is no file") as error:
        content_digest(str(tmp_path))
    assert "\n" not in str(error.value)


def test_any_other_archive_is_known_by_its_content_too(tmp_path):
    np.savez(tmp_path / "one.npz", edges=np.arange(4))
    shutil.copyfile(tmp_path / "one.npz", tmp_path / "two.npz")
    np.savez(tmp_path / "three.npz", edges=np.arange(5))
    paths = [str(tmp_path / f"{name}.npz") for name in ("one", "two", "three")]
    one, two, three = (keys({"kind": "npz_archive", "path": path}) for path in paths)
    assert one == two
    assert all(one[stage] != three[stage] for stage in STAGES)
