"""A model that was saved is loaded with the same embeddings, also by later versions."""

import json
from pathlib import Path

import numpy as np
import pytest

from estimators import VARIANTS, assert_same_views, estimator
from examples import example_graph
from figure_kedro.datasets.files.tensor_file import read_tensors, write_tensors
from figure_kedro.errors import UserError
from figure_kedro.estimator import WEIGHTS, FiGURe, Representation
from figure_kedro.features import STRUCTURAL, structural_features
from figure_kedro.filters import BANKS
from figure_kedro.migration import MODEL_FORMAT

pytestmark = pytest.mark.usefixtures("one_thread")

FORMAT_1 = Path(__file__).parent / "fixtures" / "models_format_1"


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_saved_and_loaded_model_gives_equal_embeddings(variant, tmp_path):
    graph = example_graph()
    filters = BANKS.parse({"bank": "bernstein", "size": 3, "self_loops": False})
    figure = estimator(filters=filters, encoder=variant).fit(graph)
    figure.save(tmp_path)
    loaded = FiGURe.load(tmp_path)
    assert_same_views(loaded.transform(graph), figure.transform(graph))
    assert (loaded.filters, loaded.settings, loaded.record_) == (figure.filters, figure.settings, figure.record_)
    assert loaded.checksum_ == graph.checksum


def test_settings_are_saved_where_a_person_can_read_them(tmp_path):
    estimator().fit(example_graph()).save(tmp_path)
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert settings["representation"]["dim"] == 5
    assert settings["filters"]["bank"] == "monomial"


@pytest.mark.parametrize("folder", sorted(FORMAT_1.iterdir()), ids=lambda folder: folder.name)
def test_model_of_the_first_format_is_loaded_and_gives_the_embeddings_that_it_gave(folder, tmp_path):
    graph = example_graph()
    loaded = Representation.load(folder)
    expected = dict(np.load(folder / "views.npz"))
    assert list(loaded.view_names) == list(expected)
    assert_same_views(loaded.transform(graph), expected, rtol=0, atol=1e-6)
    loaded.save(tmp_path)
    assert json.loads((tmp_path / "settings.json").read_text())["format"] == MODEL_FORMAT
    assert_same_views(Representation.load(tmp_path).transform(graph), expected, rtol=0, atol=1e-6)


def test_settings_of_a_model_of_the_first_format_are_those_that_it_had():
    grace, walk, bank, dgi = (
        Representation.load(FORMAT_1 / name) for name in ("grace", "node2vec", "figure_bernstein", "dgi")
    )
    assert (grace.settings.temperature, grace.settings.dim, grace.settings.training.max_epochs) == (0.5, 5, 4)
    assert (walk.settings.p, walk.settings.q, walk.settings.length) == (0.5, 1.0, 10)
    assert bank.filters == BANKS.parse({"bank": "bernstein", "size": 3, "self_loops": False})
    assert (bank.settings.encoder.gcn_layers, bank.settings.encoder.shared) == (2, False)
    assert dgi.settings.method == "dgi"
    assert dgi.record_.epochs == 4


@pytest.mark.parametrize("directed", [False, True])
def test_model_of_the_second_format_has_the_structural_features_that_it_was_trained_on(directed, tmp_path, caplog):
    bare = example_graph(directed=directed, features=None)
    furnished = structural_features(bare, STRUCTURAL.parse({"structural": "svd"}))
    trained = estimator().fit(furnished)
    weights, description = trained.state()
    del description["structural"]
    write_tensors(tmp_path / WEIGHTS, weights, description | {"format": 2, "structural_features": True})
    loaded = FiGURe.load(tmp_path)
    assert_same_views(loaded.transform(bare), trained.transform(furnished))
    assert "another basis" not in caplog.text
    loaded.save(tmp_path)
    assert_same_views(FiGURe.load(tmp_path).transform(bare), loaded.transform(bare))


@pytest.mark.parametrize("name", ["deepwalk", "node2vec"])
def test_model_of_walks_of_the_first_format_refuses_a_graph_of_another_size(name):
    with pytest.raises(UserError, match="knows only the nodes"):
        Representation.load(FORMAT_1 / name).transform(example_graph(30))


@pytest.mark.parametrize("version", [MODEL_FORMAT + 1, "x"])
def test_model_of_a_newer_format_is_refused_in_one_line(version, tmp_path):
    estimator().fit(example_graph()).save(tmp_path)
    weights, description = read_tensors(tmp_path / WEIGHTS)
    assert description["format"] == MODEL_FORMAT
    write_tensors(tmp_path / WEIGHTS, weights, description | {"format": version, "filters": "of another kind"})
    with pytest.raises(UserError, match=f"^the model has format {version!r}, .* a newer version") as caught:
        FiGURe.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "lie",
    [
        {"num_features": 7},
        {"representation": {"method": "figure", "dim": 9}},
        {"filters": {"bank": "monomial", "sizes": 3}},
    ],
)
def test_a_model_that_lies_about_its_shapes_is_one_line(lie, tmp_path):
    estimator().fit(example_graph()).save(tmp_path)
    weights, description = read_tensors(tmp_path / WEIGHTS)
    write_tensors(tmp_path / WEIGHTS, weights, description | lie)
    with pytest.raises(UserError, match="weights do not fit what it says of itself") as error:
        FiGURe.load(tmp_path)
    assert "\n" not in str(error.value)


def test_a_model_that_lacks_a_weight_is_one_line(tmp_path):
    estimator().fit(example_graph()).save(tmp_path)
    weights, description = read_tensors(tmp_path / WEIGHTS)
    write_tensors(tmp_path / WEIGHTS, dict(list(weights.items())[1:]), description)
    with pytest.raises(UserError, match="weights do not fit what it says of itself"):
        FiGURe.load(tmp_path)


def test_a_model_file_that_is_cut_short_is_one_line(tmp_path):
    estimator().fit(example_graph()).save(tmp_path)
    content = (tmp_path / WEIGHTS).read_bytes()
    (tmp_path / WEIGHTS).write_bytes(content[:-10])
    with pytest.raises(UserError, match="is damaged"):
        FiGURe.load(tmp_path)
