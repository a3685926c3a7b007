"""No column is taken in silence for what it is not: the log says what was taken, and doubts end in a question."""

import logging

import numpy as np
import pandas as pd
import pytest

from figure_kedro.datasets.sources.kinds.own import Own, OwnSettings
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.errors import UserError

EDGES = pd.DataFrame({"u": [1, 2, 3, 4, 1, 2], "v": [2, 3, 4, 1, 3, 4]})
NODES = pd.DataFrame({"id": [1, 2, 3, 4], "size": [0.5, 1.5, 2.5, 3.5]})
LABEL = pd.Series([0, 1, 0, 1])
MASKS = {
    "train_mask": [True, True, False, False],
    "val_mask": [False, False, True, False],
    "test_mask": [False, False, False, True],
}


def load(folder, edges=EDGES, nodes=None, **source):
    edges.to_csv(folder / "edges.csv", index=False)
    source["edges"] = str(folder / "edges.csv")
    if nodes is not None:
        nodes.to_csv(folder / "nodes.csv", index=False)
        source["nodes"] = str(folder / "nodes.csv")
    return Own(OwnSettings(**source)).load(RawFiles(folder), "mine")


def question(folder, **given):
    with pytest.raises(UserError) as caught:
        load(folder, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_log_says_what_every_column_was_taken_for(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    nodes = NODES.assign(label=["a", "b", "a", None], split=["train", "train", "val", None], note="text")
    nodes.loc[3, ["label", "split"]] = ["b", "test"]
    edges = EDGES.assign(strength=1.5, colour="red")
    source = {"weight_column": "strength", "label_column": "label", "split_columns": "split"}
    load(tmp_path, edges, nodes, **source)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert any("edges from column 'u' to 'v', weights 'strength'; not used: colour" in line for line in lines)
    expected = "ids 'id', 1 features (size), label 'label' of 2 classes, splits split; not used: note"
    assert any(expected in line for line in lines)
    assert "mine: 4 nodes and 6 undirected edges" in lines


@pytest.mark.parametrize("name", ["label", "Labels", "y", "class", "target", "node_label", "y_true", "class_id"])
def test_a_numeric_column_that_is_called_like_a_label_is_asked_about(tmp_path, name):
    nodes = NODES.assign(**{name: LABEL})
    said = question(tmp_path, nodes=nodes)
    for setting in (f"source.label_column={name}", f"source.ignore={name}", f"source.feature_columns=all+{name}"):
        assert setting in said
    assert load(tmp_path, nodes=nodes, ignore=name).num_features == 1
    assert load(tmp_path, nodes=nodes, feature_columns=f"all+{name}").num_features == 2
    labelled = load(tmp_path, nodes=nodes, label_column=name, random_splits=0)
    assert labelled.num_features == 1
    assert labelled.targets.num_classes == 2


def test_a_label_in_words_is_no_feature_and_the_log_names_the_setting(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    assert load(tmp_path, nodes=NODES.assign(label=["a", "b", "a", "b"])).num_features == 1
    assert "no label (source.label_column=label would take 'label' for it)" in caplog.text


def test_the_label_in_other_words_is_asked_about_whatever_its_name(tmp_path):
    nodes = NODES.assign(label=["a", "b", "a", "b"], code=[7, 3, 7, 3], random=[7, 3, 3, 7])
    said = question(tmp_path, nodes=nodes, label_column="label", random_splits=0)
    assert "'code' (like a copy of the label); set source.ignore=code" in said
    assert load(tmp_path, nodes=nodes, label_column="label", random_splits=0, ignore="code").num_features == 2


def test_x_and_y_of_a_place_are_features(tmp_path):
    places = NODES.assign(x=[1, 2, 3, 4], y=[5, 6, 7, 8])
    assert load(tmp_path, nodes=places).num_features == 3
    assert "'y' (like a label)" in question(tmp_path, nodes=places.assign(y=LABEL))


def test_masks_are_asked_about_and_can_be_splits(tmp_path):
    nodes = NODES.assign(label=LABEL, **MASKS)
    said = question(tmp_path, nodes=nodes, label_column="label")
    assert "source.split_columns=train_mask+val_mask+test_mask" in said
    assert "source.ignore=train_mask+val_mask+test_mask" in said
    graph = load(tmp_path, nodes=nodes, label_column="label", split_columns="train_mask+val_mask+test_mask")
    np.testing.assert_array_equal(graph.targets.splits, [[1, 1, 2, 3]])
    assert graph.num_features == 1
    assert load(tmp_path, nodes=nodes, ignore="*_mask+label").num_features == 1


def test_masks_of_several_splits_are_told_apart_by_the_rest_of_their_names(tmp_path):
    both = {f"{name}_{number}": values for number in (0, 1) for name, values in MASKS.items()}
    both["val_mask_1"], both["test_mask_1"] = both["test_mask_1"], both["val_mask_1"]
    nodes = NODES.assign(label=LABEL, **both).sample(frac=1, axis=1, random_state=0)
    graph = load(tmp_path, nodes=nodes, id_column="id", label_column="label", split_columns="*_mask_0+*_mask_1")
    np.testing.assert_array_equal(graph.targets.splits, [[1, 1, 2, 3], [1, 1, 3, 2]])


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ({"train_mask": MASKS["train_mask"], "val_mask": MASKS["val_mask"]}, "lack the part 'test'"),
        ({**MASKS, "val_mask": MASKS["test_mask"]}, "row 3 is in val and test"),
        ({**MASKS, "val_mask": [False] * 4}, "no node is in 'val'"),
        ({"some": MASKS["train_mask"]}, "'some' holds true and false"),
    ],
)
def test_masks_that_make_no_split_are_one_line(tmp_path, masks, message):
    nodes = NODES.assign(label=LABEL, **masks)
    assert message in question(tmp_path, nodes=nodes, label_column="label", split_columns="+".join(masks))


@pytest.mark.parametrize("name", ["split", "fold", "is_train", "test", "timestamp", "created_at"])
def test_numbers_that_are_called_like_splits_or_times_are_asked_about(tmp_path, name):
    assert f"source.ignore={name}" in question(tmp_path, nodes=NODES.assign(**{name: [1, 2, 3, 4]}))


def test_several_doubts_are_one_question(tmp_path):
    said = question(tmp_path, nodes=NODES.assign(y=LABEL, fold=LABEL, time=LABEL))
    assert "source.ignore=y+fold+time" in said


def test_weights_that_are_called_so_are_asked_about(tmp_path):
    edges = EDGES.assign(weight=2.0)
    said = question(tmp_path, edges=edges)
    assert "source.weight_column=weight" in said
    assert load(tmp_path, edges, weight_column="weight").weighted
    assert not load(tmp_path, edges, ignore="weight").weighted


FIRST = {
    "time by name": ({"time": [5, 6, 7, 8, 9, 9]}, "'time' is taken for ids of nodes but looks like a time"),
    "time in seconds": ({"when": range(1_600_000_000, 1_600_000_006)}, "looks like a time"),
    "date": ({"when": ["2024-01-01"] * 6}, "looks like a time"),
    "weights": ({"weight": [1, 2, 3, 1, 2, 3]}, "looks like weights"),
    "fractions": ({"z": [0.5, 1.5, 2, 3, 4, 5]}, "looks like numbers with a fraction"),
}


@pytest.mark.parametrize("case", FIRST)
def test_a_first_column_that_holds_no_ids_is_asked_about(tmp_path, case):
    column, message = FIRST[case]
    edges = pd.DataFrame(column).join(EDGES.set_axis(["a", "b"], axis=1))
    assert message in question(tmp_path, edges=edges)
    name = next(iter(column))
    assert load(tmp_path, edges, source_column="a", target_column="b", ignore=name).num_nodes == 4
    assert load(tmp_path, edges, ignore=name).num_nodes == 4


def test_columns_that_are_called_source_and_target_are_not_passed_over(tmp_path):
    edges = pd.DataFrame({"id": range(6)}).join(EDGES.set_axis(["source", "target"], axis=1))
    assert "source.source_column=source,source.target_column=target" in question(tmp_path, edges=edges)
    assert "source.id_column=id" in question(tmp_path, nodes=NODES[["size", "id"]])


def test_columns_that_mean_something_else_are_not_taken_for_ids(tmp_path):
    (tmp_path / "edges.csv").write_text("w,when,a,b\n2,5,007,7\n3,6,7,08\n")
    (tmp_path / "nodes.csv").write_text("label,name,x\nred,007,1\nblue,7,2\nred,08,3\n")
    source = {"edges": str(tmp_path / "edges.csv"), "nodes": str(tmp_path / "nodes.csv")}
    source |= {"weight_column": "w", "ignore": "wh*", "label_column": "label", "random_splits": 0}
    graph = Own(OwnSettings(**source)).load(RawFiles(tmp_path), "mine")
    assert graph.ids.tolist() == ["007", "7", "08"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])


def test_ids_in_the_range_of_times_at_both_ends_are_ids(tmp_path):
    assert load(tmp_path, EDGES + 1_600_000_000).num_nodes == 4


@pytest.mark.parametrize("lines", ["alice,bob\nbob,carol\ncarol,dan\n", "x1,x2\nx3,x1\n"])
def test_words_in_the_place_of_names_are_asked_about(tmp_path, lines):
    (tmp_path / "list.csv").write_text(lines)
    with pytest.raises(UserError, match=r"a row of its own\? .* set source\.header=false if it is") as caught:
        Own(OwnSettings(edges=str(tmp_path / "list.csv"))).load(RawFiles(tmp_path), "mine")
    assert "\n" not in str(caught.value)
    rows = lines.count("\n")
    for header, edges in ((False, rows), (True, rows - 1)):
        settings = OwnSettings(edges=str(tmp_path / "list.csv"), header=header)
        assert Own(settings).load(RawFiles(tmp_path), "mine").num_edges == edges


def test_a_row_of_numbers_in_the_place_of_names_is_asked_about(tmp_path):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    (tmp_path / "nodes.csv").write_text("1,0.25,3\n2,0.5,4\n3,0.5,1\n4,1,1\n")
    source = {"edges": str(tmp_path / "edges.csv"), "nodes": str(tmp_path / "nodes.csv")}
    with pytest.raises(UserError, match="starts with numbers"):
        Own(OwnSettings(**source)).load(RawFiles(tmp_path), "mine")
    (tmp_path / "nodes.csv").write_text("a,0.25,3\nb,0.5,4\n")
    with pytest.raises(UserError, match=r"0\.25. is no name of a column"):
        Own(OwnSettings(**source)).load(RawFiles(tmp_path), "mine")


def test_as_many_ids_as_rows_are_a_warning(tmp_path, caplog):
    load(tmp_path, pd.DataFrame({"row": range(12), "a": np.arange(12) % 4}))
    assert "12 ids in 12 rows, and every value of column 'row' occurs once" in caplog.text
    caplog.clear()
    load(tmp_path, pd.concat([EDGES, EDGES + 1]))
    assert "ids in" not in caplog.text


def test_a_column_to_ignore_must_be_there(tmp_path):
    assert "to ignore; did you mean 'size'" in question(tmp_path, nodes=NODES, ignore="sizes")
