import io

import numpy as np
import pytest
from matplotlib.colors import to_hex

from figure_kedro.errors import UserError
from figure_kedro.reporting.look import OKABE_ITO
from figure_kedro.reporting.pictures import correlation_figure, tsne_figure

RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], 20)
PANELS = {"32": RNG.normal(size=(60, 4)) + 3 * LABELS[:, None], "32, Fourier": RNG.normal(size=(60, 9))}


def test_tsne_has_a_panel_for_each_representation_and_a_colour_for_each_class():
    figure = tsne_figure(PANELS, LABELS, seed=0, classes=["x", "y", "z"])
    assert [axis.get_title() for axis in figure.axes] == ["32", "32, Fourier"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["x", "y", "z"]
    for axis in figure.axes:
        assert [len(points.get_offsets()) for points in axis.collections] == [20, 20, 20]
        assert len({tuple(points.get_facecolor()[0]) for points in axis.collections}) == 3


def test_same_seed_gives_the_same_picture():
    first, second = (tsne_figure(PANELS, LABELS, seed=3) for _ in range(2))
    for a, b in zip(first.axes[0].collections, second.axes[0].collections, strict=True):
        np.testing.assert_array_equal(a.get_offsets(), b.get_offsets())


def test_constant_embeddings_and_few_nodes_stay_finite():
    figure = tsne_figure(
        {"constant": np.ones((5, 3)), "one column": np.arange(5.0)[:, None]}, np.array([0, 0, 1, 1, -1]), 0
    )
    for axis in figure.axes:
        assert all(np.isfinite(points.get_offsets()).all() for points in axis.collections)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["no label", "0", "1"]


def test_class_without_a_sampled_node_keeps_its_place_in_the_legend():
    figure = tsne_figure({"x": PANELS["32"]}, np.array([0] * 59 + [1]), seed=0, most=10)
    assert sum(len(points.get_offsets()) for points in figure.axes[0].collections) == 10
    assert len(figure.legends[0].get_texts()) == 2


def test_tsne_of_wide_embeddings_keeps_classes_apart():
    wide = RNG.normal(size=(120, 80)) + 3 * np.eye(80)[np.repeat([0, 1], 60)] * 5
    left, right = tsne_figure({"x": wide}, np.repeat([0, 1], 60), seed=0).axes[0].collections
    left, right = left.get_offsets(), right.get_offsets()
    apart = np.linalg.norm(left.mean(axis=0) - right.mean(axis=0))
    assert apart > 2 * max(left.std(), right.std())


@pytest.mark.parametrize("classes", [2, 8, 9, 18, 30])
def test_classes_have_a_colour_and_shape_of_their_own_and_unlabelled_nodes_are_grey(classes):
    labels = np.arange(60) % (classes + 1) - 1
    axis = tsne_figure({"x": PANELS["32"]}, labels, seed=0).axes[0]
    colours = [to_hex(points.get_facecolor()[0]) for points in axis.collections]
    assert colours[0] == to_hex("0.75")
    shapes = [tuple(map(tuple, points.get_paths()[0].vertices)) for points in axis.collections]
    assert len(set(zip(colours, shapes, strict=True))) == classes + 1
    assert set(colours[1:]) <= {colour.lower() for colour in OKABE_ITO}, "nobody has to tell other colours apart"
    if classes <= 8:
        assert len(set(colours[1:])) == classes
        assert len(set(shapes)) == 1


def test_correlation_is_the_cosine_and_zero_rows_correlate_with_none():
    embeddings = np.array([[3.0, 4.0], [4.0, -3.0], [6.0, 8.0], [0.0, 0.0]])
    shown = correlation_figure({"x": embeddings}, np.arange(4), seed=0).axes[0].images[0].get_array()
    expected = [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(shown, expected, atol=1e-12)


def test_correlation_panels_share_a_scale_that_fits_what_they_show():
    near, far = 5 + RNG.normal(size=(60, 4)), RNG.normal(size=(60, 100))
    (alone,) = correlation_figure({"near": near}, LABELS, seed=0).axes[0].images
    assert alone.cmap.name == "viridis"
    assert alone.get_clim()[0] >= 0.5
    images = [axis.images[0] for axis in correlation_figure({"near": near, "far": far}, LABELS, seed=0).axes[:2]]
    assert [image.cmap.name for image in images] == ["RdBu_r"] * 2
    assert [image.get_clim() for image in images] == [(-1.0, 1.0)] * 2


def test_correlation_rows_are_sorted_by_class_with_unlabelled_nodes_last():
    labels = np.array([1, -1, 0, 1])
    embeddings = np.eye(4)
    embeddings[3] = embeddings[0]
    axis = correlation_figure({"x": embeddings}, labels, seed=0, classes=["left", "right"]).axes[0]
    expected = np.eye(4)
    expected[1, 2] = expected[2, 1] = 1  # both nodes of class 1, between class 0 and the unlabelled node
    np.testing.assert_array_equal(axis.images[0].get_array(), expected)
    assert [text.get_text() for text in axis.get_yticklabels()] == ["left", "right", "no label"]


def test_correlation_shows_at_most_500_nodes():
    axis = correlation_figure({"x": RNG.normal(size=(700, 3))}, np.zeros(700, dtype=int), seed=0).axes[0]
    assert axis.images[0].get_array().shape == (500, 500)


@pytest.mark.parametrize(("embeddings", "limits"), [(np.ones((60, 3)), (0.95, 1.0)), (np.eye(60), (0.0, 0.05))])
def test_scale_of_equal_correlations_has_a_width(embeddings, limits):
    (image,) = correlation_figure({"x": embeddings.astype(np.float32)}, LABELS, seed=0).axes[0].images
    assert image.get_clim() == pytest.approx(limits)


def test_scale_of_close_correlations_is_as_narrow_as_they_are():
    embeddings = 20 + RNG.normal(size=(60, 4))
    (image,) = correlation_figure({"x": embeddings}, LABELS, seed=0).axes[0].images
    low, high = image.get_clim()
    assert low >= 0.9
    assert high - low <= 0.1


def test_a_picture_says_what_was_run_and_dollars_of_users_are_no_formula():
    for draw in (tsne_figure, correlation_figure):
        figure = draw({"view $A^{2}$": PANELS["32"]}, LABELS, 0, ["a", "$x", "$y^"], "cora: figure")
        assert figure.axes[0].get_title() == "cora: figure\nview $A^{2}$"
        figure.savefig(io.BytesIO(), format="png")  # a formula that is none would fail here


def test_names_of_classes_are_not_cut_off():
    figure = correlation_figure({"x": np.abs(PANELS["32, Fourier"])}, LABELS, 0, ["class 0", "class 1", "class 2"])
    figure.savefig(io.BytesIO(), format="png", dpi=120)
    figure.set_layout_engine("none")
    assert figure.get_tightbbox().x0 > -0.02  # inches


@pytest.mark.parametrize("draw", [tsne_figure, correlation_figure])
def test_pictures_can_be_written_without_a_display(draw):
    target = io.BytesIO()
    draw(PANELS, LABELS, 0).savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("draw", [tsne_figure, correlation_figure])
def test_embeddings_that_are_not_finite_are_named(draw):
    broken = PANELS["32"].copy()
    broken[7, 1] = np.nan
    with pytest.raises(UserError, match="'broken' of row 7"):
        draw({"fine": PANELS["32"], "broken": broken}, LABELS, 0)
    with pytest.raises(UserError, match="'short' have 3 rows for 60 labels"):
        draw({"short": np.ones((3, 2))}, LABELS, 0)
