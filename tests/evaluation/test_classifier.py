"""The classifier that is kept: what it predicts, and what comes back from its file."""

import dataclasses
import itertools
import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS, AlphaClassifier, Classifier, NoClassifier
from figure_kedro.evaluation.classifier import WEIGHTS, load_classifier
from figure_kedro.evaluation.final import chosen_settings
from figure_kedro.evaluation.head import BestEpoch, Examples
from figure_kedro.evaluation.metric import score
from figure_kedro.evaluation.views import Views
from figure_kedro.projections import MAPS, Projection

RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], 30)
EMBEDDINGS = {
    name: (RNG.normal(size=(90, 5)) + LABELS[:, None] * weight).astype(np.float32)
    for name, weight in (("I", 0.1), ("A", 1.0))
}
CODES = np.tile([1, 1, 2, 3, 1], 18)
EXAMPLES = Examples.of(LABELS, CODES)
LABELLED = Examples(np.flatnonzero(CODES < 3), np.arange(0), np.arange(0), np.where(CODES < 3, LABELS, -1))


def projection(**settings):
    return Projection.fit(MAPS.parse({"scale": "rms", **settings}), list(EMBEDDINGS.values()))


def deciding(proba, classes):
    return score("accuracy", EXAMPLES.labels[EXAMPLES.val], proba, classes)


def head_and_inputs(name, mapped, **settings):
    head = HEADS.build(HEADS.parse({"head": name, "seed": 1, **settings}))
    views = Views(list(EMBEDDINGS.values()), mapped, tuple(EMBEDDINGS))
    if name == "linear":
        return head, views
    from figure_kedro.evaluation.heads.mlp import ViewInputs

    return head, ViewInputs(views, torch.device("cpu"))


def fitted(name="linear", choice=None, mapped=None, **settings):
    mapped = mapped or projection()
    head, inputs = head_and_inputs(name, mapped, **settings)
    choice = {"relative_decay": 1e-2, **(choice or {})} if name == "linear" else choice or {"hidden": 8}
    final = head.final(inputs, choice, EXAMPLES, LABELLED, deciding)
    return Classifier(
        head.settings, mapped, choice, final.weights, ("a", "b", "c"), tuple(EMBEDDINGS), "accuracy", 0, "train_and_val"
    )


KINDS = {
    "linear": {"choice": {"mask_0": 0}},
    "adam": {"solver": "adam", "max_epochs": 30, "choice": {"weight_decay": 1e-3}},
    "mlp": {"max_epochs": 20},
    "frequencies": {"choice": {"mask_0": 0, "mask_1": 0}},
    "fourier": {"mapped": projection(map="fourier", dim=16), "choice": {"gamma": 0.3}},
}


def of_kind(kind):
    return fitted("mlp" if kind == "mlp" else "linear", **KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_classifier_comes_back_from_its_file_with_the_same_bits(kind, tmp_path):
    classifier = of_kind(kind)
    classifier.save(tmp_path)
    again = load_classifier(tmp_path)
    np.testing.assert_array_equal(again.probabilities(EMBEDDINGS), classifier.probabilities(EMBEDDINGS))
    assert (again.classes, again.choice, again.settings) == (classifier.classes, classifier.choice, classifier.settings)
    assert json.loads((tmp_path / "classifier.json").read_text())["format"] == 1


def test_the_linear_classifier_predicts_what_the_alpha_classifier_does_on_the_same_rows():
    classifier, mapped = fitted(), projection()
    views = [mapped.transform(view) for view in EMBEDDINGS.values()]
    rows = [view[LABELLED.train] for view in views]
    decay = 1e-2 * float(torch.from_numpy(sum(rows[1:], start=rows[0])).var(dim=0).mean()) * 0.1**2
    exact = AlphaClassifier(weight_decay=decay, random_state=1).fit(rows, LABELS[LABELLED.train])
    np.testing.assert_allclose(classifier.probabilities(EMBEDDINGS), exact.predict_proba(views), atol=1e-6)
    combined = sum(a * view for a, view in zip(exact.alpha_, views, strict=True))
    np.testing.assert_allclose(classifier.combine(EMBEDDINGS), combined, atol=1e-6)
    assert list(classifier.coefficients) == ["I", "A"]


def test_without_any_filter_the_frequencies_of_the_fitted_labels_are_predicted():
    shares = np.bincount(LABELS[LABELLED.train]) / len(LABELLED.train)
    found = of_kind("frequencies").probabilities(EMBEDDINGS)
    np.testing.assert_allclose(found, np.tile(shares, (90, 1)), rtol=1e-5)


@pytest.mark.parametrize("kind", ["adam", "mlp"])
def test_a_head_that_stops_early_takes_the_number_of_epochs_from_validation(kind):
    seen = []
    name = "mlp" if kind == "mlp" else "linear"
    settings = {key: value for key, value in KINDS[kind].items() if key != "choice"}
    head, inputs = head_and_inputs(name, projection(), **settings)
    choice = KINDS[kind].get("choice", {"hidden": 8})

    def in_the_third_epoch_best(proba, classes):
        seen.append(len(proba))
        return 1.0 if len(seen) == 3 else 0.0

    final = head.final(inputs, choice, EXAMPLES, LABELLED, in_the_third_epoch_best)
    short, _ = head_and_inputs(name, projection(), **{**settings, "max_epochs": 3})
    rising, whole = itertools.count(), dataclasses.replace(LABELLED, val=EXAMPLES.val)
    expected = short.final(inputs, choice, whole, whole, lambda *shown: next(rising))
    for part, value in expected.weights.items():
        torch.testing.assert_close(final.weights[part], value)


def test_the_best_epoch_is_the_first_of_equals():
    scores = iter([0.1, 0.7, 0.7, 0.2])
    best = BestEpoch(lambda proba, classes: next(scores))
    for _ in range(4):
        best(np.empty(0), np.empty(0))
    assert best.epoch == 2


def test_settings_read_from_a_table_are_those_that_were_tried():
    space = {"mask_0": [0, 1], "gamma": [0.1, 0.3], "activation": ["none", "exp"], "absent": [1]}
    row = pd.Series({"mask_0": 1.0, "gamma": 0.30000000000000004, "activation": "exp", "relative_decay": "0.01"})
    found = chosen_settings(space, ("relative_decay",), row)
    assert found == {"mask_0": 1, "gamma": 0.3, "activation": "exp", "relative_decay": 0.01}
    with pytest.raises(UserError, match=r"gamma = 0\.2, which was never tried"):
        chosen_settings(space, (), pd.Series({"gamma": 0.2}))


def test_a_view_that_is_missing_is_named():
    with pytest.raises(UserError, match="reads the view 'A', and there are I"):
        fitted().probabilities({"I": EMBEDDINGS["I"]})


def test_the_reason_for_no_classifier_is_kept(tmp_path):
    NoClassifier("there are no labels").save(tmp_path)
    with pytest.raises(UserError, match="there are no labels"):
        load_classifier(tmp_path).probabilities(EMBEDDINGS)


def test_a_folder_without_a_classifier_is_one_line(tmp_path):
    with pytest.raises(UserError, match="there is no classifier"):
        load_classifier(tmp_path)


def test_a_file_that_is_cut_short_is_one_line(tmp_path):
    fitted().save(tmp_path)
    content = (tmp_path / WEIGHTS).read_bytes()
    for length in (0, 5, len(content) // 2, len(content) - 3):
        (tmp_path / WEIGHTS).write_bytes(content[:length])
        with pytest.raises(UserError, match="is damaged"):
            load_classifier(tmp_path)


def test_a_file_of_tensors_without_a_description_is_one_line(tmp_path):
    save_file({"alpha": torch.zeros(2)}, tmp_path / WEIGHTS)
    with pytest.raises(UserError, match="is damaged"):
        load_classifier(tmp_path)


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ({"classes": ["a", "b"]}, "names 2 classes and has weights for 3"),
        ({"views": ["I", "A", "A^2"]}, "do not fit"),
        ({"views": ["I"]}, "do not fit"),
        ({"evaluation": {"head": "linear", "trails": 3}}, "do not fit"),
        ({"format": 9}, "has format 9"),
    ],
)
def test_a_file_that_lies_about_itself_is_one_line(lie, message):
    weights, description = fitted().state()
    with pytest.raises(UserError, match=message) as error:
        Classifier.from_state(weights, description | lie)
    assert "\n" not in str(error.value)


def test_weights_of_another_shape_or_that_are_not_finite_are_one_line():
    weights, description = fitted().state()
    for name, value in (
        ("weights", torch.zeros(3, 4)),
        ("bias", torch.zeros(2)),
        ("alpha", torch.full((2,), torch.nan)),
    ):
        with pytest.raises(UserError, match="do not fit what it says of itself"):
            Classifier.from_state({**weights, name: value}, description)
    with pytest.raises(UserError, match="do not fit what it says of itself"):
        Classifier.from_state({"weights": weights["weights"]}, description)
