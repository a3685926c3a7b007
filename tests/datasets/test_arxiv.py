"""The arXiv reader, on twelve papers in OGB's layout."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from figure_kedro.datasets.sources.kinds.arxiv import Arxiv, ArxivSettings, year_quantiles
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.errors import UserError

NODES = 12
YEARS = [2010, 2011, 2012, 2013, 2014, 2015, 2016, 2017, 2018, 2018, 2019, 2020]
EDGES = [(v, u) for v in range(1, NODES) for u in (v - 1, v // 2) if u != v]
PARTS = {"train": range(6), "valid": range(6, 9), "test": range(9, NODES)}


def tables():
    """File contents by path below ``ogbn_arxiv``."""
    rows = {
        "raw/edge": EDGES,
        "raw/node-feat": [(v + 0.5, -v) for v in range(NODES)],
        "raw/node-label": [(v % 3,) for v in range(NODES)],
        "raw/node_year": [(year,) for year in YEARS],
    }
    rows |= {f"split/time/{part}": [(v,) for v in members] for part, members in PARTS.items()}
    return {
        f"{path}.csv.gz": "\n".join(",".join(map(str, row)) for row in lines) + "\n" for path, lines in rows.items()
    }


def write_unpacked(folder, **replaced):
    for path, text in (tables() | replaced).items():
        file = folder / "ogbn_arxiv" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()))
    return folder


def write_zip(folder):
    (folder / "ogbn_arxiv").mkdir(parents=True)
    with zipfile.ZipFile(folder / "ogbn_arxiv" / "arxiv.zip", "w") as archive:
        for path, text in tables().items():
            archive.writestr(f"arxiv/{path}", gzip.compress(text.encode()))
    return folder


def load(tmp_path, mirror, **settings):
    return Arxiv(ArxivSettings(**settings)).load(RawFiles(tmp_path / "01_raw", mirror), "arxiv")


@pytest.mark.parametrize("write", [write_unpacked, write_zip])
def test_subjects_come_with_the_published_split(tmp_path, write):
    graph = load(tmp_path, write(tmp_path / "mirror"))
    assert (graph.num_nodes, graph.targets.num_classes, graph.targets.num_splits) == (NODES, 3, 1)
    assert graph.num_edges == len({frozenset(edge) for edge in EDGES})
    np.testing.assert_array_equal(graph.features, [[v + 0.5, -v] for v in range(NODES)])
    np.testing.assert_array_equal(graph.targets.labels, np.arange(NODES) % 3)
    np.testing.assert_array_equal(graph.targets.splits[0], [1] * 6 + [2] * 3 + [3] * 3)


def test_directed_edges_go_from_the_citing_paper_to_the_cited_one(tmp_path):
    graph = load(tmp_path, write_unpacked(tmp_path / "mirror"), directed=True)
    coordinates = graph.adjacency.tocoo()
    found = set(zip(coordinates.row.tolist(), coordinates.col.tolist(), strict=True))
    assert graph.directed
    assert found == set(EDGES)


def test_years_come_with_random_halves_and_quarters(tmp_path):
    mirror = write_unpacked(tmp_path / "mirror")
    graph = load(tmp_path, mirror, labels="year")
    # quantiles 0.2 ... 0.8 of the years by hand: 2012.2, 2014.4, 2016.6, 2018
    np.testing.assert_array_equal(graph.targets.labels, [0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 4, 4])
    assert graph.targets.num_splits == 5
    for codes in graph.targets.splits:
        assert np.bincount(codes, minlength=4).tolist() == [0, 6, 3, 3]
    again = load(tmp_path, mirror, labels="year")
    np.testing.assert_array_equal(graph.targets.splits, again.targets.splits)
    assert (graph.targets.splits != load(tmp_path, mirror, labels="year", seed=1).targets.splits).any()


def test_year_rule_gives_the_published_classes(mirror):
    file = mirror.resolve().parent / "ogbn_arxiv_no_features.npz"
    if not file.is_file():
        pytest.skip("no ogbn_arxiv_no_features.npz beside the raw mirror")
    with np.load(file) as archive:
        labels, classes = year_quantiles(archive["node_year"], 5)
        np.testing.assert_array_equal(labels, archive["year_labels"])
    assert np.bincount(labels).tolist() == [31971, 21189, 37781, 29799, 48603]
    assert (classes[0], classes[-1]) == ("before 2014", "from 2019")


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("raw/node_year.csv.gz", "2010\n", r"node_year\.csv\.gz has 1 rows, but the features have 12"),
        ("raw/node-label.csv.gz", "a\n" * NODES, r"node-label\.csv\.gz is not a gzipped table of numbers"),
        ("raw/edge.csv.gz", "1\n2\n", r"edge\.csv\.gz has 1 columns instead of 2"),
        ("raw/edge.csv.gz", "1,99\n", "node number 99"),
        ("split/time/test.csv.gz", "9\n99\n", r"test\.csv\.gz, row 1: there is no node 99"),
        ("split/time/test.csv.gz", "0\n", "row 0 is in train and test"),
    ],
)
def test_bad_file_is_named_in_one_line(tmp_path, path, text, message):
    mirror = write_unpacked(tmp_path / "mirror", **{path: text})
    with pytest.raises(UserError, match=message) as caught:
        load(tmp_path, mirror)
    assert "\n" not in str(caught.value)


def test_file_that_is_no_gzip_is_named(tmp_path):
    mirror = write_unpacked(tmp_path / "mirror")
    (mirror / "ogbn_arxiv" / "raw" / "edge.csv.gz").write_bytes(b"1,2\n")
    with pytest.raises(UserError, match=r"edge\.csv\.gz is not a gzipped table"):
        load(tmp_path, mirror)


def test_archive_without_the_tables_is_named(tmp_path):
    content = io.BytesIO()
    zipfile.ZipFile(content, "w").close()
    (tmp_path / "mirror" / "ogbn_arxiv").mkdir(parents=True)
    (tmp_path / "mirror" / "ogbn_arxiv" / "arxiv.zip").write_bytes(content.getvalue())
    with pytest.raises(UserError, match=r"arxiv\.zip is not OGB's archive"):
        load(tmp_path, tmp_path / "mirror")
