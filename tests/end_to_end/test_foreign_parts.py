"""A part of every kind in one file outside of the package, through the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]

PARTS = '''
"""One part of every kind."""

from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import nn

from figure_kedro.datasets.sources import SOURCES, Source, SourceSettings
from figure_kedro.evaluation import HEADS, METRICS
from figure_kedro.evaluation.head import Fitted, Head, HeadSettings
from figure_kedro.evaluation.metric import Metric
from figure_kedro.features.structural import STRUCTURAL, ColumnSettings, StructuralFeatures
from figure_kedro.filters import BANKS, BankSettings, FilterBank
from figure_kedro.graph import graph_from_edges, random_splits
from figure_kedro.methods.method import METHODS, Method, MethodSettings
from figure_kedro.projections.feature_map import MAPS, FeatureMap, ProjectionSettings


class RingSettings(SourceSettings):
    kind: Literal["ring"] = "ring"
    length: int = Field(40, ge=4, description="number of nodes")


@SOURCES.register
class Ring(Source):
    Settings = RingSettings

    def load(self, raw, name):
        nodes = np.arange(self.settings.length)
        labels = nodes % 2
        splits = random_splits(labels, 2, 0.5, 0.25, 0)
        return graph_from_edges(nodes, np.roll(nodes, 1), name=name, ids=nodes, labels=labels, splits=splits)


class ParitySettings(ColumnSettings):
    structural: Literal["parity"] = "parity"


@STRUCTURAL.register
class Parity(StructuralFeatures):
    Settings = ParitySettings

    def columns(self, graph):
        return np.eye(2)[graph.ids % 2]


class DifferenceSettings(BankSettings):
    bank: Literal["difference"] = "difference"
    strength: float = Field(1.0, gt=0, description="factor on the Laplacian")


@BANKS.register
class Difference(FilterBank):
    Settings = DifferenceSettings
    title = "Differences"

    @property
    def names(self):
        return tuple(f"L^{i}" for i in range(self.size))

    def apply(self, propagate, block):
        yield block
        for _ in range(1, self.size):
            block = self.settings.strength * (block - propagate(block))
            yield block

    def response(self, eigenvalues):
        return (self.settings.strength * eigenvalues) ** np.arange(self.size)[:, None]


class DoubledSettings(MethodSettings):
    method: Literal["doubled"] = "doubled"


@METHODS.register
class Doubled(Method):
    Settings = DoubledSettings
    reads = frozenset({"features", "operator", "bank"})

    @property
    def views(self):
        return self.bank.names

    def build(self, num_nodes, num_features):
        return nn.Module()

    def embed(self, model, graph, operator):
        for block in self.bank.apply(operator.on(differentiable=False), torch.from_numpy(graph.features)):
            yield 2 * block.numpy()

    def width(self, num_features):
        return num_features


class SquareSettings(ProjectionSettings):
    map: Literal["square"] = "square"


@MAPS.register
class Square(FeatureMap):
    Settings = SquareSettings

    @classmethod
    def from_settings(cls, settings, **choice):
        return cls()

    def _draw(self, d):
        return d

    def _features(self, rows):
        return rows**2


class NearestSettings(HeadSettings):
    head: Literal["nearest"] = "nearest"


@HEADS.register
class Nearest(Head):
    Settings = NearestSettings

    def inputs(self, embeddings, projection, nodes):
        return np.hstack([projection.transform(view[nodes]) for view in embeddings.values()])

    def space(self, inputs):
        return {"sharpness": [1.0, 10.0]}

    def fit(self, inputs, choice, examples, score, watch=None):
        labels = examples.labels[examples.train]
        classes = np.unique(labels)
        centres = np.stack([inputs[examples.train][labels == c].mean(axis=0) for c in classes])
        distances = np.square(inputs[:, None] - centres).sum(axis=2)
        weights = np.exp(-choice["sharpness"] * (distances - distances.min(axis=1, keepdims=True)))
        return Fitted(weights / weights.sum(axis=1, keepdims=True), classes)


@METRICS.register
class Right(Metric):
    name = "right"

    def score(self, y, proba, classes):
        return float((classes[proba.argmax(axis=1)] == y).mean())
'''


def run(folder, *params, **environment):
    settings = {
        "data_folder": folder / "data",
        "dataset": "csbm",
        "source.kind": "ring",
        "features.structural": "parity",
        "filters.bank": "difference",
        "filters.size": 3,
        "representation.method": "doubled",
        "projection.map": "square",
        "evaluation.head": "nearest",
        "evaluation.metric": "right",
        "evaluation.trials": 2,
    }
    option = ",".join([*(f"{name}={value}" for name, value in settings.items()), *params])
    return subprocess.run(
        [sys.executable, "-m", "kedro", "run", "--params", option],
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_one_file_outside_of_the_package_adds_a_part_of_every_kind(tmp_path):
    (tmp_path / "my_parts.py").write_text(PARTS)
    result = run(tmp_path, "filters.strength=0.5", FIGURE_PARTS="my_parts", PYTHONPATH=str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr
    (path,) = tmp_path.glob("data/08_reporting/csbm/*/summary.json")
    summary = json.loads(path.read_text())
    assert (summary["method"], summary["head"], summary["metric"]) == ("doubled", "nearest", "right")
    assert summary["test_mean"] == 100.0, "parity tells the classes"
    filters = summary["settings"]["filters"]
    assert (filters["bank"], filters["size"], filters["strength"]) == ("difference", 3, 0.5)
    assert (path.parent / "filter_responses.png").exists(), "its own bank is drawn"


def test_an_installed_package_brings_parts_by_an_entry_point_and_a_misspelt_one_is_told_with_their_names(tmp_path):
    (tmp_path / "my_parts.py").write_text(PARTS)
    (tmp_path / "my_parts-1.0.dist-info").mkdir()
    (tmp_path / "my_parts-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my_parts\nVersion: 1.0\n"
    )
    (tmp_path / "my_parts-1.0.dist-info" / "entry_points.txt").write_text("[figure_kedro.parts]\nmine = my_parts\n")
    result = run(tmp_path, "filters.bank=diference", PYTHONPATH=str(tmp_path))
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert "there is no 'diference'; did you mean 'difference'?" in line


def test_a_module_of_parts_that_is_missing_is_one_line(tmp_path):
    result = run(tmp_path, FIGURE_PARTS="no_such_module")
    assert result.returncode == 2
    assert "the module of parts 'no_such_module' cannot be imported" in result.stderr
    assert "Traceback" not in result.stderr
