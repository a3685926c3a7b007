"""The page of a run says what was run, what it reached and where it is, and needs no other file."""

import base64
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.results import alpha_table, results_table
from figure_kedro.reporting.run_page import PICTURES, run_page

SPLITS = pd.DataFrame(
    {"split": [0, 1], "val_accuracy": [0.9, 0.8], "test_accuracy": [0.88, 0.87], "mask_0": [1, 0], "mask_1": [1, 1]}
)
ALPHAS = pd.DataFrame({"split": [0, 0, 1, 1], "filter": ["I", "A^2"] * 2, "alpha": [0.5, -0.25, 0.0, 1.5]})
STATISTICS = pd.DataFrame([{"dataset": "cora", "nodes": 2708, "homophily": 0.80997, "directed": False}])
HOSTILE = '<script>alert("x")</script>&amp;'
COMMAND = "kedro run --params dataset=cora"
PNG = {name: f"png of {name}".encode() for name in PICTURES}


def record(**changes):
    run = {
        "dataset": "cora",
        "method": "figure",
        "dimension": 512,
        "projection": "none",
        "splits": SPLITS,
        "timing": {"epochs": 300, "mean_epoch_seconds": 0.12, "peak_memory_mb": 700.0},
        "storage_mb": 21.2,
        "settings": {"dataset": "cora", "evaluation": {"trials": 30, "space": [1, 2]}},
        "data_checksum": "abc",
        "key": "0123456789",
        "date": "2026-01-02",
    }
    return RunRecord.of_run(**run | changes)


def tables(alphas=ALPHAS, statistics=STATISTICS):
    filters = list(alphas["filter"].unique())
    return {
        "statistics": statistics,
        "results": results_table(SPLITS, filters),
        "alphas": alpha_table(alphas, SPLITS),
    }


class Reader(HTMLParser):
    """Collects the text of a page, its pictures, and its tags."""

    def __init__(self, text):
        super().__init__()
        self.words, self.pictures, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "img":
            self.pictures.append(dict(attrs)["src"])

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def test_the_page_has_what_was_run_what_it_reached_and_where_it_is():
    text = Reader(run_page(record(), tables(), PNG, {"embeddings": "data/07_model_output/cora/1"}, COMMAND)).text
    for words in (
        "kedro run --params dataset=cora",
        "87.50 (0.71) % over 2 splits",
        "87.00 (1.24) %; ours is +0.50 points from it",
        "edges between equal labels 81.00 %",
        "nodes 2,708",
        "300",
        "700 MB",
        "data/07_model_output/cora/1",
        "trials 30 space 1, 2",
        "I, A²",
        "-0.2500",
    ):
        assert words in text, words
    assert "mask_0" not in text


def test_every_picture_is_inside_the_page():
    shown = Reader(run_page(record(), tables(), PNG, {})).pictures
    prefix = "data:image/png;base64,"
    assert all(source.startswith(prefix) for source in shown)
    assert {base64.b64decode(source.removeprefix(prefix)) for source in shown} == set(PNG.values())


def test_the_page_asks_for_nothing_and_runs_nothing():
    page = run_page(record(), tables(), PNG, {})
    assert "script" not in Reader(page).tags
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!data:)[a-z]+:""", page)
    assert "default-src 'none'" in page


def test_whatever_comes_from_users_is_only_text():
    hostile = record(dataset=HOSTILE, settings={"source": {HOSTILE: HOSTILE}}, data_checksum=HOSTILE)
    alphas = ALPHAS.assign(filter=[HOSTILE, "A"] * 2)
    statistics = pd.DataFrame([{"dataset": HOSTILE, HOSTILE: 1}])
    read = Reader(run_page(hostile, tables(alphas, statistics), PNG, {HOSTILE: HOSTILE}, HOSTILE))
    assert "script" not in read.tags
    assert read.text.count(HOSTILE) >= 8


def test_a_graph_without_labels_has_a_page_that_says_so():
    empty = pd.DataFrame({"split": []})
    parts = {"statistics": STATISTICS, "results": empty, "alphas": empty}
    text = Reader(run_page(record(splits=empty), parts, PNG, {})).text
    assert "there are no labels" in text
    assert "Scores on every split" not in text
    assert PICTURES["confusion_matrix"] not in text
    assert PICTURES["tsne"] in text


@pytest.mark.parametrize("missing", sorted(PICTURES))
def test_a_missing_picture_is_left_out(missing):
    page = run_page(record(), tables(), {name: png for name, png in PNG.items() if name != missing}, {})
    assert len(Reader(page).pictures) == len(PNG) - 1
