"""Settings and their files at the edges: checked, or one line that says what to do."""

import numpy as np
import pytest
import torch
from faults_project import PROJECT, one_line

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.sources import SOURCES, RawFiles
from figure_kedro.estimator import Representation
from figure_kedro.experiments.cells import project_loader
from figure_kedro.graph import graph_from_edges
from figure_kedro.machine_errors import find_user_error
from figure_kedro.parameters import KINDS, check_parameters
from figure_kedro.parts import Settings
from figure_kedro.parts.settings import LARGEST
from figure_kedro.training.device import pick_device
from flips import base, leaves

CSBM = {"dataset": "csbm", "source": {"kind": "csbm"}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"source": {"kind": "csbm", "seed": 2**32}}, "at most"),
        ({"source": {"kind": "csbm", "seed": -1}}, "greater than or equal to 0"),
        ({"source": {"kind": "csbm", "nodes": 10**30}}, "at most"),
        ({"source": {"kind": "csbm", "degree": "inf"}}, "finite"),
        ({"source": {"kind": "csbm", "signal": "nan"}}, "finite"),
        ({"representation": {"training": {"seed": 2**32}}}, "less than or equal to"),
        ({"representation": {"training": {"learning_rate": "inf"}}}, "finite"),
        ({"representation": {"training": {"device": "cuda:99999999999999999999"}}}, "should match"),
        ({"representation": {"training": {"threads": 1e9}}}, "less than or equal to 4096"),
        ({"representation": {"dim": 10**20}}, "at most"),
        ({"representation": {"tuning": {"space": {"dim": [10**20]}}}}, "at most"),
        ({"projection": {"map": "fourier", "gammas": [-1]}}, "greater than 0"),
        ({"projection": {"map": "fourier", "gammas": ["inf"]}}, "finite"),
        ({"projection": {"map": "fourier", "gammas": []}}, "at least 1"),
        ({"evaluation": {"seed": 2**31}}, "at most"),
        ({"evaluation": {"trials": 10**19}}, "at most"),
        ({"evaluation": {"head": "gcn", "space": {"hidden": [-1]}}}, "hidden"),
        ({"data_folder": "file:///tmp/x"}, "is an address of this machine"),
        ({"data_folder": "https://host/x"}, "can only be read"),
        ({"data_folder": "s33://bucket/data"}, "did you mean 's3'?"),
        ({"data_folder": "s3://"}, "no address of a folder"),
        ({"data_folder": "s3://bucket/../other"}, "no address of a folder"),
        ({"data_folder": "simplecache::s3://bucket"}, "no storage is known"),
        ({"data_folder": "sftp://me:secret@host/data"}, "leave it to the environment"),
        ({"data_folder": "a?b"}, "leave out ?"),
        ({"data_folder": "a\nb"}, "leave out"),
        ({"data_folder": ""}, "leave out"),
        ({"data_folder": "x" * 256}, "256 bytes"),
        ({"data_folder": "x/" * 2000}, "shorten it"),
        ({"dataset": "../x"}, "should match"),
        ({"dataset": "x" * 101}, "should match"),
        ({"dataset": "[/x]"}, "should match"),
        ({"features": {"components": 10**12}}, "at most"),
        ({"representation": {"dim": "x" * 10_000}}, "valid integer"),
    ],
)
def test_a_setting_out_of_range_is_one_line(changes, said):
    assert said in one_line(check_parameters, CSBM | changes)


def test_every_number_of_every_part_is_finite_and_bounded():
    tried = 0
    for group, part, path in leaves():
        for value in (10**30, -(10**30), float("inf"), float("nan"), "9" * 30):
            raw = base(group, part)
            *groups, name = path.split(".")
            inner = raw
            for one in groups:
                inner[one] = dict(inner.get(one, {}))
                inner = inner[one]
            inner[name] = value
            try:
                settings = KINDS[group].parse(raw)
            except ValueError:
                tried += 1
                continue
            for one in groups:
                settings = getattr(settings, one)
            kept = getattr(settings, name)
            assert not isinstance(kept, float | int) or abs(kept) <= max(LARGEST, 1e30), (group, part, path)
            assert kept not in (float("inf"), float("nan"))
    assert tried > 500


def test_the_rule_holds_for_a_part_of_somebody_else_and_a_bound_of_its_own_wins():
    from pydantic import Field

    class Foreign(Settings):
        size: int = 3
        share: float = 0.5
        seed: int = Field(0, le=2**32 - 1)
        sizes: tuple[int, ...] = ()

    assert Foreign(seed=2**32 - 1).seed == 2**32 - 1
    for wrong in ({"size": 2**31}, {"share": float("inf")}, {"seed": 2**32}, {"sizes": (1, 2**40)}):
        with pytest.raises(ValueError, match=r"at most|finite|less than"):
            Foreign(**wrong)


@pytest.mark.parametrize("name", ["cuda:7", "cuda:9999"])
def test_a_device_that_is_not_there_is_one_line(name):
    if torch.cuda.device_count() <= 7:
        assert "there is no device" in one_line(pick_device, name)


@pytest.mark.parametrize(
    "source",
    [
        {"kind": "csbm", "nodes": 10**9},
        {"kind": "csbm", "nodes": 10**7, "features": 10**6},
        {"kind": "csbm", "nodes": 10**6, "degree": 10**6},
        {"kind": "minesweeper_generated", "rows": 10**6, "columns": 10**6},
    ],
)
def test_a_graph_that_no_memory_holds_is_refused_with_its_need_before_it_is_drawn(source, tmp_path):
    line = one_line(SOURCES.build(SOURCES.parse(source)).load, RawFiles(tmp_path), "big")
    assert "GB of memory" in line
    assert "are free; ask for fewer" in line


def test_embeddings_that_no_memory_holds_are_refused_before_training():
    graph = graph_from_edges(np.array([0]), np.array([1]), name="g", num_nodes=100, features=np.ones((100, 2)))
    assert "smaller representation.dim" in one_line(Representation(dim=2**31 - 1, progress=False).fit, graph)


def configuration(tmp_path, text, kind="datasets"):
    """The project's own configuration with a file of a user."""
    for folder in ("base", "local"):
        (tmp_path / "conf" / folder).mkdir(parents=True)
    for name in ("parameters*.yml", "globals.yml", "datasets/*.yml"):
        for file in (PROJECT / "conf" / "base").glob(name):
            target = tmp_path / "conf" / "base" / file.relative_to(PROJECT / "conf" / "base")
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    (tmp_path / "conf" / "local" / kind).mkdir()
    (tmp_path / "conf" / "local" / kind / "bomb.yml").write_text(text)
    return project_loader(tmp_path).with_params({"dataset": "bomb"})


def read_as_a_command_does(tmp_path, text):
    try:
        return configuration(tmp_path, text).parameters
    except Exception as error:
        raise find_user_error(error) or error from None


ALIASES = "a0: &a0 [1, 1]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
REFERENCES = (
    "bomb:\n  dataset: ${r0}\n" + "".join(f"r{i}: ${{r{i + 1}}}${{r{i + 1}}}\n" for i in range(40)) + "r40: x\n"
)


@pytest.mark.parametrize(
    "text",
    [
        ALIASES,
        REFERENCES,
        "bomb: {source: {kind: csbm, nodes: '${oc.env:NOBODY_HAS_SET_THIS}'}}",
        "bomb: {source: {kind: csbm, nodes: '${bomb.source.nodes}'}}",
        "bomb: !!python/object/apply:os.abort []",
        "bomb: {source: {kind: csbm, nodes: " + "[" * 3000 + "]" * 3000 + "}}",
        "bomb: [1, 2]",
        "bomb: {source: csbm}",
        "bomb: {source: {kind: [csbm]}}",
        "bomb: {source: {kind: csbm}, representation: {method: {a: 1}}}",
        "bomb: \x00",
        "bomb: {? [1, 2] : 3}",
    ],
)
def test_a_file_of_settings_with_surprises_is_one_line(tmp_path, monkeypatch, text):
    monkeypatch.setattr("figure_kedro.config.READING_SECONDS", 1.0)
    one_line(read_as_a_command_does, tmp_path, text)


def test_the_clock_is_put_back_after_reading(tmp_path):
    import signal

    before = signal.getsignal(signal.SIGVTALRM)
    assert isinstance(configuration(tmp_path, "bomb: {source: {kind: csbm}}"), ProjectConfigLoader)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before
