"""Inputs and settings that were changed at random go through what reads them: a result or one line, never more."""

import json
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from faults_project import PROJECT

from figure_kedro.datasets.files.array_folder import read_arrays, write_arrays
from figure_kedro.datasets.files.content import forget
from figure_kedro.datasets.files.tensor_file import read_tensors, write_tensors
from figure_kedro.datasets.sources import SOURCES, RawFiles
from figure_kedro.datasets.typed_json import read_json
from figure_kedro.experiments.cells import project_loader
from figure_kedro.machine_errors import find_user_error
from figure_kedro.methods.method import METHODS
from figure_kedro.parameters import check_parameters
from flips import base, leaves

COUNT = 10_000
"""Mutations of all kinds together."""

EDGES = "from,to,weight\n" + "".join(f"n{i},n{(7 * i + 1) % 30},{1 + i % 3}\n" for i in range(30))
NODES = "id,size,age,label\n" + "".join(f"n{i},{i % 5},{i / 7},{'ab'[i % 2]}\n" for i in range(30))
PIECES = [
    b"",
    b"\0",
    b"\n",
    b",",
    b'"',
    b"\xff",
    b"nan",
    b"inf",
    b"-1",
    b"1e999",
    b"[/x]",
    b"9" * 40,
    b"\xef\xbb\xbf",
    b"${x}",
]
VALUES = ["", "x", "[/x]", "..", "${a}", None, True, [], {}, [[]], {"a": 1}, -1, 0, 1, 2**31, 2**32, 2**63, 10**30, 0.5]
VALUES += [
    1e-320,
    1e308,
    float("inf"),
    float("nan"),
    "1e9",
    "nan",
    "\n",
    "a" * 300,
    "cuda:99",
    (1, 2),
    ["x"] * 3,
    "null",
]


def mutated(rng, content):
    """Cut, flip, insert or repeat some bytes."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del content[place : place + rng.randint(1, 40)]
        elif kind == 1 and content:
            content[min(place, len(content) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 2:
            content[place:place] = rng.choice(PIECES)
        else:
            content[place:place] = content[max(0, place - 20) : place]
    return bytes(content)


def csv_tables(rng, folder):
    changed = rng.choice(["edges.csv", "nodes.csv"])
    for name, text in (("edges.csv", EDGES), ("nodes.csv", NODES)):
        (folder / name).write_bytes(mutated(rng, text.encode()) if name == changed else text.encode())
    settings = {"kind": "own", "edges": str(folder / "edges.csv"), "nodes": str(folder / "nodes.csv")}
    settings["weight_column"] = "weight"  # the tables that are mutated are read as they are
    chosen = rng.choice([{}, {"label_column": "label"}, {"directed": True}])
    return lambda: SOURCES.build(SOURCES.parse(settings | chosen)).load(RawFiles(folder), "mine")


def parquet_table(rng, folder):
    path = folder / "edges.parquet"
    if not path.exists():
        pd.DataFrame({"a": range(30), "b": [(7 * i + 1) % 30 for i in range(30)]}).to_parquet(folder / "whole.parquet")
    path.write_bytes(mutated(rng, (folder / "whole.parquet").read_bytes()))
    return lambda: SOURCES.build(SOURCES.parse({"kind": "own", "edges": str(path)})).load(RawFiles(folder), "mine")


def archive(rng, folder):
    whole, path = folder / "whole.npz", folder / "a.npz"
    if not whole.exists():
        masks = {f"{part}_masks": np.arange(6)[None] // 2 == i for i, part in enumerate(("train", "val", "test"))}
        labels, edges = np.arange(6) % 2, np.array([[0, 1], [1, 2], [3, 4]])
        np.savez(whole, edges=edges, edges_directed=False, node_labels=labels, node_features=np.ones((6, 2)), **masks)
    path.write_bytes(mutated(rng, whole.read_bytes()))
    return lambda: SOURCES.build(SOURCES.parse({"kind": "npz_archive", "path": str(path)})).load(RawFiles(folder), "a")


def stored_arrays(rng, folder):
    write_arrays(folder / "x", {"a": np.arange(20), "b": np.ones((3, 4))}, {"name": "n"})
    path = rng.choice(sorted((folder / "x").iterdir()))
    path.write_bytes(mutated(rng, path.read_bytes()))
    forget()
    return lambda: read_arrays(folder / "x")


def tensors(rng, folder):
    write_tensors(folder / "w", {"a": torch.ones(3, 2)}, {"epochs": [1, 2]})
    (folder / "w").write_bytes(mutated(rng, (folder / "w").read_bytes()))
    return lambda: read_tensors(folder / "w")


def json_without_a_digest(rng, folder):
    path = folder / "settings.json"
    path.write_bytes(mutated(rng, json.dumps(METHODS.parse({}).model_dump(mode="json"), indent=2).encode()))
    return lambda: read_json(path, METHODS.parse)


def settings(rng, folder):
    group, part, path = rng.choice(LEAVES)
    raw = base(group, part)
    *groups, name = path.split(".")
    inner = raw
    for one in groups:
        inner = inner.setdefault(one, {})
    inner[rng.choice([name, name, name, f"{name}x", "kind"])] = rng.choice(VALUES)
    source = {"kind": "csbm"} if group != "source" else raw
    whole = {"dataset": "csbm", "source": source, **({} if group == "source" else {group: raw})}
    whole |= rng.choice([{}, {}, {"dataset": rng.choice(VALUES)}, {"data_folder": rng.choice(VALUES)}])
    return lambda: check_parameters(whole)


def command_line(rng, folder):
    group, _, path = rng.choice(LEAVES)
    given = {group: rng.choice([{path.partition(".")[0]: rng.choice(VALUES)}, rng.choice(VALUES)])}
    given["dataset"] = rng.choice(["csbm", "csbm", "minesweeper_generated", rng.choice(VALUES)])
    return lambda: LOADER.with_params(given).parameters


LEAVES = list(leaves())
LOADER = project_loader(PROJECT)
KINDS_OF_INPUT = {
    csv_tables: 0.25,
    parquet_table: 0.1,
    archive: 0.1,
    stored_arrays: 0.05,
    tensors: 0.1,
    json_without_a_digest: 0.05,
    settings: 0.3,
    command_line: 0.05,
}


def all_end_well(kind, folder, count):
    """Read so many mutations, and tell how they ended."""
    ends = {"result": 0, "one line": 0}
    for seed in range(count):
        read = kind(random.Random(f"{kind.__name__} {seed}"), folder)
        line = None
        try:
            read()
        except Exception as error:  # the command turns these into one line, and no others
            line = str(find_user_error(error) or pytest.fail(f"seed {seed}: {type(error).__name__}: {error}"))
        assert line is None or "\n" not in line, seed
        ends["result" if line is None else "one line"] += 1
    assert ends["one line"] > 0
    assert ends["result"] > 0 or count < 100, "what is mutated is itself refused, so that nothing else is tried"
    return f"{kind.__name__}: {count} mutated, {ends['result']} results, {ends['one line']} lines, 0 tracebacks"


BY_NAME = pytest.mark.parametrize("kind", KINDS_OF_INPUT, ids=lambda kind: kind.__name__)


@BY_NAME
@pytest.mark.filterwarnings("ignore")
def test_a_mutated_input_is_a_result_or_one_line(kind, tmp_path):
    all_end_well(kind, tmp_path, round(COUNT * KINDS_OF_INPUT[kind] / 20))


@BY_NAME
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ten_thousand_mutated_inputs_are_results_or_one_line_each(kind, tmp_path, capsys):
    told = all_end_well(kind, tmp_path, round(COUNT * KINDS_OF_INPUT[kind]))
    with capsys.disabled():
        print(f"\n{told}")  # noqa: T201


@pytest.mark.slow
def test_a_hundred_mutated_inputs_through_the_real_command_never_end_in_a_traceback(tmp_path, capsys):
    ends = {0: 0, 2: 0}
    for seed in range(100):
        rng = random.Random(seed)
        csv_tables(rng, tmp_path)
        group, _, path = rng.choice(LEAVES)
        setting = rng.choice(["", "", f",{group}.{path}={rng.choice(VALUES)}"])
        params = f"dataset=own,source.edges={tmp_path}/edges.csv,source.nodes={tmp_path}/nodes.csv{setting}"
        params += ",source.weight_column=weight"
        params += f",data_folder={tmp_path / 'data'}"
        ended = subprocess.run(
            [sys.executable, "-m", "kedro", "run", "--pipelines=data_processing", "--params", params],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "Traceback" not in ended.stdout + ended.stderr, (seed, ended.stderr[-2000:])
        ends[ended.returncode] += 1
    assert ends[0] > 0, "what is mutated is itself refused, so that nothing else is tried"
    with capsys.disabled():
        print(f"\nthe command: 100 mutated, {ends[0]} results, {ends[2]} lines, 0 tracebacks")  # noqa: T201
