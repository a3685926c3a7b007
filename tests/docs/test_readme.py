"""The README and the pages beside it list what there is, and nothing else."""

import re
from pathlib import Path

import pytest

from figure_kedro.evaluation import METRICS
from figure_kedro.parameters import KINDS

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text()
GUIDE = ("start", "graphs", "own_graph", "serving", "experiments", "pipelines", "training", "methods", "evaluation")
PAGES = "\n".join([README, *((PROJECT / "docs" / f"{name}.md").read_text() for name in GUIDE)])
NAMED = set(re.findall(r"`([a-z0-9_]+)`", PAGES)) | set(
    re.findall(r"[a-z0-9_]+", " ".join(re.findall(r"=(\S+)`", PAGES)))
)


@pytest.mark.parametrize("group", ["filters", "representation", "projection", "evaluation"])
def test_every_part_is_on_a_page(group):
    assert set(KINDS[group].names()) <= NAMED


def test_every_metric_is_on_a_page():
    assert set(METRICS.names()) <= NAMED


def test_every_command_has_parameters_that_exist(tmp_path):
    from figure_kedro.config import ProjectConfigLoader
    from figure_kedro.settings import CONFIG_LOADER_ARGS

    conf = PROJECT / "conf"
    options = re.findall(
        r"kedro (?:run|viz run) (?:--pipelines=\w+ )?--params ([^\s`]+)(?: +#.*)?$", PAGES, re.MULTILINE
    )
    assert len(options) >= 12
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


def test_the_readme_is_short_and_has_the_two_commands_a_picture_and_the_way_on():
    assert len(README.splitlines()) < 100
    assert "make run" in README
    assert "make test" in README
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (PROJECT / picture).is_file()
    for name in GUIDE:
        assert f"](docs/{name}.md)" in README, name


def test_every_link_leads_to_a_file():
    for page in (PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text()):
            assert (page.parent / link).exists(), (page.name, link)
