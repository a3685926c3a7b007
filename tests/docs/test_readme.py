"""The README lists what there is, and nothing else."""

import re
from pathlib import Path

import pytest

from figure_kedro.evaluation import METRICS
from figure_kedro.parameters import KINDS

README = (Path(__file__).parents[2] / "README.md").read_text()
NAMED = set(re.findall(r"`([a-z0-9_]+)`", README)) | set(
    re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"=(\S+)`", README)))
)


@pytest.mark.parametrize("group", ["filters", "representation", "projection", "evaluation"])
def test_every_part_is_in_the_readme(group):
    assert set(KINDS[group].names()) <= NAMED


def test_every_metric_is_in_the_readme():
    assert set(METRICS.names()) <= NAMED


def test_every_command_in_the_readme_has_parameters_that_exist(tmp_path):
    from figure_kedro.config import ProjectConfigLoader
    from figure_kedro.settings import CONFIG_LOADER_ARGS

    conf = Path(__file__).parents[2] / "conf"
    options = re.findall(r"kedro run (?:--pipelines=\w+ )?--params (\S+)$", README, re.MULTILINE)
    assert len(options) >= 5
    for name in ("edges.csv", "nodes.csv", "new_edges.csv", "new_nodes.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    for option in options:
        if "dataset=chameleon_best" in option:  # what a search has written
            continue
        given: dict = {}
        for path, value in (pair.split("=") for pair in option.split(",")):
            *groups, last = path.split(".")
            inner = given
            for group in groups:
                inner = inner.setdefault(group, {})
            inner[last] = value
        loader = ProjectConfigLoader(str(conf), runtime_params=given, **CONFIG_LOADER_ARGS)
        assert loader.parameters.dataset == given["dataset"]
