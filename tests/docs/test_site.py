"""The documentation site has a page for everything, made of what there is."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from figure_kedro.parameters import KINDS, Parameters
from figure_kedro.parts import Settings

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("pages", PROJECT / "docs/site/pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def leaves(settings, prefix=""):
    for name, field in settings.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Settings):
            if name not in KINDS or prefix:
                yield from leaves(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_every_parameter_of_every_part_is_on_the_page(pages):
    text = pages.parameters_page()
    shown = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    for group, kind in KINDS.items():
        for part in kind.names():
            assert f"### `{part}`" in text
            assert {*leaves(kind[part].Settings, f"{group}.")} - {f"{group}.{kind.tag}"} <= shown
    assert {"dataset", "data_folder", "reporting.formats"} <= shown
    assert {path for path in shown if "." not in path} <= set(Parameters.model_fields)


def test_a_row_has_meaning_range_default_and_what_it_decides(pages):
    text = pages.parameters_page()
    (row,) = re.findall(r"^\| `filters.size` .*$", text, re.MULTILINE)
    assert "(at least 1, at most 64)" in row
    assert "`4`" in row
    assert "decides no result by itself" in re.search(r"^\| `data_folder` .*$", text, re.MULTILINE).group()


def test_every_page_of_the_contents_is_a_file_or_is_made(pages):
    nav = re.findall(r": (\w+\.md)$", (PROJECT / "mkdocs.yml").read_text(), re.MULTILINE)
    made = {f"{page}.md" for page in {"parameters", *pages.WHOLE}}
    written = {path.name for path in (PROJECT / "docs").glob("*.md")}
    assert set(nav) == made | written
    assert not made & written
    assert len(nav) == len(set(nav))


def test_links_to_files_of_the_repository_lead_to_pages_or_stay_names(pages):
    text = (
        "[a](docs/start.md) [b](../CONTRIBUTING.md) [c](CHANGELOG.md) [d](../benchmarks/results) [e](notebooks/1.ipynb)"
    )
    assert pages._relinked(text) == "[a](start.md) [b](contributing.md) [c](changes.md) `d` `e`"


def test_the_site_asks_for_nothing_from_the_network(pages):
    page = pages.on_post_page('<script src="https://unpkg.com/iframe-worker/shim"></script>')
    assert page == '<script src="offline_search.js"></script>'
    assert (PROJECT / "docs/offline_search.js").is_file()
    config = yaml.safe_load((PROJECT / "mkdocs.yml").read_text())
    assert config["theme"]["font"] is False
    assert "extra_javascript" not in config
