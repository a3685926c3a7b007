"""The alpha-combined classifier: its gradient, its solvers, and what odd input gets."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from figure_kedro.errors import UserError
from figure_kedro.evaluation import AlphaClassifier, score
from figure_kedro.evaluation.combined_loss import CombinedLoss
from figure_kedro.evaluation.solvers import initial_weights


def make(classes: int = 3, n: int = 150, d: int = 10, signs=(1.0, 1.0, 0.0), noise: float = 1.0, seed: int = 0):
    """Views that are ``sign`` times a class mean plus noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    means = rng.normal(size=(classes, d))
    return [(s * means[y] + noise * rng.normal(size=(n, d))).astype(np.float32) for s in signs], y


def rows(views, part):
    return [view[part] for view in views]


@pytest.mark.parametrize("centre", [False, True])
def test_gradient_equals_autograd_on_the_written_objective(centre):
    views, y = make()
    tensors = [torch.as_tensor(v, dtype=torch.float64) for v in views]
    generator = torch.Generator().manual_seed(0)
    a, weights, bias = (
        torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape in ((3,), (3, 10), (3,))
    )
    z = sum(a[i] * (e - (e.mean(dim=0) if centre else 0)) for i, e in enumerate(tensors))
    targets = torch.as_tensor(y)
    expected = torch.nn.functional.cross_entropy(z @ weights.T + bias, targets) + 0.3 / 2 * weights.square().sum()
    expected.backward()
    with torch.no_grad():
        decay = torch.tensor([0.3], dtype=torch.float64)
        losses, *gradients, _ = CombinedLoss(tensors, targets, 3, centre=centre)(
            a[None], weights[None], bias[None], decay
        )
    assert losses.item() == pytest.approx(expected.item(), rel=1e-12)
    for gradient, parameter in zip(gradients, (a, weights, bias), strict=True):
        torch.testing.assert_close(gradient[0], parameter.grad, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("activation", ["none", "exp"])
def test_lbfgs_ends_at_a_minimum_of_the_constrained_objective(activation):
    views, y = make(noise=2.0)
    fitted = AlphaClassifier(activation=activation, weight_decay=0.01, random_state=1).fit(views, y)
    tensors = [torch.as_tensor(v, dtype=torch.float64) for v in views]
    objective = CombinedLoss(tensors, torch.as_tensor(y), 3, centre=False)
    a, weights, bias = (
        torch.as_tensor(p, dtype=torch.float64) for p in (fitted.alpha_, fitted.coef_, fitted.intercept_)
    )
    decay = torch.tensor([0.01], dtype=torch.float64)
    grad_a, grad_weights, grad_bias = (
        gradient[0] for gradient in objective(a[None], weights[None], bias[None], decay)[1:4]
    )
    direction = a / a.norm()
    tangent = a.norm() * (grad_a - direction * (direction @ grad_a))
    assert (tangent * direction if activation == "exp" else tangent).norm() < 2e-3
    assert grad_weights.abs().max() < 2e-3
    assert grad_bias.abs().max() < 2e-3
    start = 0.1 if activation == "none" else np.exp(0.1)
    assert np.linalg.norm(fitted.alpha_) == pytest.approx(start * np.sqrt(3), rel=1e-5)


@pytest.mark.parametrize("classes", [2, 4])
def test_one_view_is_sklearns_logistic_regression(classes):
    views, y = make(classes, signs=(1.0,), noise=2.0)
    fitted = AlphaClassifier(weight_decay=0.002).fit(views, y)
    # Two softmax columns share the penalty that sklearn's single vector of a binary problem bears alone.
    c = (2 if classes == 2 else 1) / (len(y) * 0.002)
    reference = LogisticRegression(C=c, tol=1e-8, max_iter=5000).fit(0.1 * views[0], y)
    np.testing.assert_allclose(fitted.predict_proba(views), reference.predict_proba(0.1 * views[0]), atol=1e-3)
    np.testing.assert_array_equal(fitted.predict(views), reference.predict(0.1 * views[0]))


@pytest.mark.parametrize("rate", [0.0, 0.01])
def test_decays_together_are_the_minima_that_each_has_alone(rate):
    views, y = make(noise=2.0)
    decays = [1.0, 1e-1, 1e-2, 1e-3]
    template = AlphaClassifier(alpha_learning_rate=rate)
    together = template.fit_decays(decays, views, y)
    for decay, member in zip(decays, together, strict=True):
        alone = clone(template).set_params(weight_decay=decay).fit(views, y)
        assert member.weight_decay == decay
        np.testing.assert_allclose(member.predict_proba(views), alone.predict_proba(views), atol=2e-3)
    assert not hasattr(template, "coef_")


@pytest.mark.parametrize("columns", [10, 400])
def test_more_columns_than_rows_have_sklearns_minimum_too(columns):
    views, y = make(n=90, d=columns, signs=(1.0, 1.0), noise=3.0)
    fitted = AlphaClassifier(weight_decay=0.01, alpha_learning_rate=0).fit(views, y)
    z = 0.1 * sum(views)
    reference = LogisticRegression(C=1 / (len(y) * 0.01), tol=1e-8, max_iter=5000).fit(z, y)
    np.testing.assert_allclose(fitted.coef_, reference.coef_, atol=2e-2 * np.abs(reference.coef_).max())
    np.testing.assert_allclose(fitted.predict_proba(views), reference.predict_proba(z), atol=2e-3)


@pytest.mark.parametrize("activation", ["none", "exp"])
def test_moving_alpha_with_more_columns_than_rows_ends_no_higher_than_scipy(activation):
    views, y = make(n=60, d=80, signs=(1.0, 0.5), noise=3.0)
    decay = 0.05
    fitted = AlphaClassifier(activation=activation, weight_decay=decay).fit(views, y)
    radius = np.linalg.norm(fitted.alpha_)

    def loss(coefficients, weights, bias):
        logits = sum(a * view for a, view in zip(coefficients, views, strict=True)) @ weights.T + bias
        rows = logsumexp(logits, axis=1) - logits[np.arange(len(y)), y]
        return rows.mean() + decay / 2 * np.square(weights).sum()

    def at_angle(angle):
        """The lowest loss for coefficients on the circle."""
        a = radius * np.array([np.cos(angle), np.sin(angle)])
        z = sum(c * view for c, view in zip(a, views, strict=True))
        reference = LogisticRegression(C=1 / (len(y) * decay), tol=1e-6, max_iter=5000).fit(z, y)
        return loss(a, reference.coef_, reference.intercept_)

    lowest = minimize_scalar(at_angle, bounds=(0, np.pi / 2), method="bounded").fun
    assert loss(fitted.alpha_, fitted.coef_, fitted.intercept_) <= lowest + 1e-4


def test_decays_that_are_given_up_take_no_further_step():
    views, y = make(n=600, noise=4.0, d=40)
    decays = [1e-5, 1e-5]
    seen = []

    def only_the_second(members):
        seen.append([member.coef_.copy() for member in members])
        return [False, True]

    first, second = AlphaClassifier().fit_decays(decays, views, y, only_the_second)
    np.testing.assert_array_equal(first.coef_, seen[0][0])
    assert second.n_iter_ > first.n_iter_


def test_frozen_alpha_is_logistic_regression_on_the_plain_sum():
    views, y = make(noise=2.0)
    fitted = AlphaClassifier(weight_decay=0.002, alpha_learning_rate=0).fit(views, y)
    z = 0.1 * sum(views)
    reference = LogisticRegression(C=1 / (len(y) * 0.002), tol=1e-8, max_iter=5000).fit(z, y)
    np.testing.assert_allclose(fitted.alpha_, 0.1, rtol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(views), reference.predict_proba(z), atol=1e-3)


def test_learnt_alpha_fits_better_than_the_best_frozen_one():
    views, y = make(signs=(1.0, -1.0, 0.0), noise=1.5)
    losses = []
    for rate in (0, 0.01):
        fitted = AlphaClassifier(alpha_learning_rate=rate).fit(views, y)
        proba = fitted.predict_proba(views)
        losses.append(-np.log(proba[np.arange(len(y)), y]).mean() + 1e-3 / 2 * np.square(fitted.coef_).sum())
    assert losses[1] < losses[0]


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_activation_none_learns_the_negative_alpha_that_the_classes_need(solver):
    # Two views that carry the same class signal with opposite signs cancel in any positive combination.
    views, y = make(2, n=800, d=4, signs=(1.0, -1.0), noise=2.0)
    train, val = slice(0, 400), slice(400, None)
    arguments = {"solver": solver, "weight_decay": 1e-3, "learning_rate": 0.05, "alpha_learning_rate": 0.05}
    signed, positive = (
        AlphaClassifier(activation=activation, **arguments).fit(
            rows(views, train), y[train], (rows(views, val), y[val])
        )
        for activation in ("none", "exp")
    )
    assert signed.alpha_[0] * signed.alpha_[1] < 0
    assert signed.score(rows(views, val), y[val]) > positive.score(rows(views, val), y[val]) + 0.02


def test_exactly_opposite_views_do_not_trap_the_search_at_its_start():
    (view,), y = make(2, signs=(1.0,))
    fitted = AlphaClassifier().fit([view, -view], y)
    assert (fitted.predict([view, -view]) == y).mean() > 0.9


def test_exp_keeps_every_alpha_positive():
    views, y = make(2, signs=(1.0, -1.0))
    assert (AlphaClassifier(activation="exp").fit(views, y).alpha_ > 0).all()


@pytest.mark.parametrize("activation", ["none", "exp"])
def test_both_solvers_reach_similar_validation_accuracy(activation):
    views, y = make(4, n=600, d=12, signs=(1.0, 0.5, 0.0), noise=2.0)
    train, val = slice(0, 300), slice(300, None)
    validation = (rows(views, val), y[val])
    reached = {}
    for solver in ("lbfgs", "adam"):
        fitted = AlphaClassifier(solver=solver, activation=activation, max_epochs=500 if solver == "adam" else None)
        fitted.fit(rows(views, train), y[train], validation)
        reached[solver] = score("accuracy", y[val], fitted.predict_proba(validation[0]))
    assert reached["lbfgs"] > 0.6
    assert reached["adam"] == pytest.approx(reached["lbfgs"], abs=0.04)


@pytest.mark.parametrize("alpha_rate", [0.0, 0.01])
def test_lbfgs_goes_to_the_minimum_whatever_validation_holds(alpha_rate):
    views, y = make(noise=3.0)
    train, val = slice(0, 60), slice(60, None)
    classifier = AlphaClassifier(weight_decay=0.01, alpha_learning_rate=alpha_rate)
    alone = clone(classifier).fit(rows(views, train), y[train])
    watched = clone(classifier).fit(rows(views, train), y[train], (rows(views, val), np.roll(y[val], 1)))
    np.testing.assert_array_equal(watched.coef_, alone.coef_)
    np.testing.assert_array_equal(watched.alpha_, alone.alpha_)


def test_adam_keeps_the_epoch_with_the_best_validation_accuracy():
    views, y = make(noise=3.0)
    train, val = slice(0, 60), slice(60, None)
    validation = (rows(views, val), y[val])

    def accuracy(epochs):
        fitted = AlphaClassifier(solver="adam", learning_rate=0.1, max_epochs=epochs).fit(
            rows(views, train), y[train], validation
        )
        return fitted.score(validation[0], y[val])

    assert np.all(np.diff([accuracy(epochs) for epochs in (1, 5, 20, 80, 200)]) >= 0)


def test_adam_keeps_the_epoch_with_the_best_value_of_the_score_that_is_given():
    views, y = make(2, noise=3.0)
    y = np.where(np.arange(len(y)) % 5 == 0, y, 0)  # one class is rare
    train, val = slice(0, 60), slice(60, None)
    validation = (rows(views, val), y[val])

    def fitted(epochs, metric=None):
        def given(proba, classes):
            return score(metric, y[val], proba, classes)

        classifier = AlphaClassifier(solver="adam", learning_rate=0.1, max_epochs=epochs)
        classifier.fit(rows(views, train), y[train], validation, score=given if metric else None)
        return classifier.predict_proba(validation[0])

    areas = [score("roc_auc", y[val], fitted(epochs, "roc_auc")) for epochs in (1, 5, 20, 80, 200)]
    assert np.all(np.diff(areas) >= 0)
    assert areas[-1] > score("roc_auc", y[val], fitted(200))
    np.testing.assert_array_equal(fitted(200, "accuracy"), fitted(200))


def test_adam_stops_when_patience_is_over():
    views, y = make()
    fitted = AlphaClassifier(solver="adam", patience=5, max_epochs=3000).fit(views, y, (views, y))
    assert fitted.n_iter_ < 3000


def test_solver_of_the_paper_is_torchs_adam_on_a_linear_layer_that_decays_with_its_bias():
    views, y = make()
    decay, epochs = 0.1, 30
    fitted = AlphaClassifier(
        solver="paper", weight_decay=decay, learning_rate=0.05, alpha_learning_rate=0.01, max_epochs=epochs, patience=1
    ).fit(views, y)
    assert fitted.n_iter_ == epochs  # no early stop
    blocks, classes = torch.as_tensor(np.stack(views), dtype=torch.float32), len(np.unique(y))
    layer, alpha = torch.nn.Linear(blocks.shape[2], classes), torch.nn.Parameter(torch.full((len(views),), 0.1))
    start = initial_weights(tuple(layer.weight.shape), layer.weight, 0, glorot=True)
    limit = (6 / sum(start.shape)) ** 0.5  # Glorot's
    assert 0.9 * limit < start.abs().max() <= limit
    layer.load_state_dict({"weight": start, "bias": torch.zeros(classes)})
    optimiser = torch.optim.Adam(
        [{"params": layer.parameters(), "lr": 0.05, "weight_decay": decay}, {"params": [alpha], "lr": 0.01}]
    )
    for _ in range(epochs - 1):  # the last epoch is judged before its step
        optimiser.zero_grad()
        combined = torch.tensordot(alpha, blocks, dims=1)
        torch.nn.functional.cross_entropy(layer(combined), torch.as_tensor(y)).backward()
        optimiser.step()
    np.testing.assert_allclose(fitted.coef_, layer.weight.detach(), atol=1e-4)
    np.testing.assert_allclose(fitted.intercept_, layer.bias.detach(), atol=1e-4)
    np.testing.assert_allclose(fitted.alpha_, alpha.detach(), atol=1e-4)


@pytest.mark.parametrize("solver", ["lbfgs", "adam", "paper"])
def test_same_seed_gives_identical_parameters(solver):
    views, y = make()
    first, second = (AlphaClassifier(solver=solver, max_epochs=30).fit(views, y) for _ in range(2))
    for name in ("alpha_", "coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_numpy_and_torch_views_give_the_same_result():
    views, y = make()
    first = AlphaClassifier().fit(views, y).predict_proba(views)
    second = AlphaClassifier().fit([torch.as_tensor(v) for v in views], y).predict_proba(views)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_masked_view_is_never_read_and_has_alpha_zero(solver):
    views, y = make()
    fitted = AlphaClassifier(masks=[1, 0, 1], solver=solver, max_epochs=20).fit([views[0], None, views[2]], y)
    alone = AlphaClassifier(solver=solver, max_epochs=20).fit([views[0], views[2]], y)
    assert fitted.alpha_[1] == 0
    np.testing.assert_array_equal(
        fitted.predict_proba([views[0], None, views[2]]), alone.predict_proba([views[0], views[2]])
    )


def test_two_classes_have_two_columns_that_sum_to_one():
    views, y = make(2)
    fitted = AlphaClassifier().fit(views, y + 3)
    proba = fitted.predict_proba(views)
    assert proba.shape == (len(y), 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)
    assert set(fitted.predict(views)) <= {3, 4}


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
@pytest.mark.parametrize("weight_decay", [0.0, 1e-3])
def test_constant_views_give_the_class_frequencies(solver, weight_decay):
    y = np.array([0] * 30 + [1] * 10)
    views = [np.full((40, 3), value, dtype=np.float32) for value in (2.0, -1.0)]
    fitted = AlphaClassifier(solver=solver, weight_decay=weight_decay, max_epochs=1500).fit(views, y)
    np.testing.assert_allclose(fitted.predict_proba(views), [[0.75, 0.25]] * 40, atol=5e-3)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_class_missing_from_training_is_scored_as_wrong(solver):
    views, y = make(3, noise=0.1)
    train = y != 1
    fitted = AlphaClassifier(solver=solver, max_epochs=300, learning_rate=0.1)
    fitted.fit(rows(views, train), y[train], (views, y))
    assert fitted.classes_.tolist() == [0, 2]
    assert score("accuracy", y, fitted.predict_proba(views), fitted.classes_) == pytest.approx(2 / 3, abs=0.01)


def test_separable_classes_without_weight_decay_stay_finite():
    views, y = make(2, noise=0.01)
    fitted = AlphaClassifier(weight_decay=0).fit(views, y)
    assert np.isfinite(fitted.coef_).all()
    assert (fitted.predict(views) == y).all()


@pytest.mark.parametrize("rate", [1.0, 1e6])
def test_adam_that_diverges_keeps_a_finite_epoch(rate):
    views, y = make()
    fitted = AlphaClassifier(solver="adam", activation="exp", alpha_learning_rate=rate, max_epochs=50).fit(views, y)
    assert np.isfinite(fitted.predict_proba(views)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_named_in_fit_and_predict(bad):
    views, y = make()
    fitted = AlphaClassifier().fit(views, y)
    views[1][5, 0] = bad
    with pytest.raises(UserError, match="row 5 of view 1 is not finite"):
        fitted.predict(views)
    with pytest.raises(UserError, match="row 5 of view 1 is not finite"):
        AlphaClassifier().fit(views, y)


@pytest.mark.parametrize(
    ("arguments", "labels", "message"),
    [
        ({}, np.zeros(150, dtype=int), "fewer than two classes"),
        ({}, np.full(150, -1), "row 0 has no label"),
        ({}, np.arange(149) % 2, "149 labels for 150 rows"),
        ({}, np.linspace(0, 1, 150), "must be a list of classes: Unknown label type: continuous"),
        ({"masks": [0, 0, 0]}, None, "every view is masked out"),
        ({"masks": [1, 1]}, None, "3 zeros or ones"),
        ({"masks": [1, 0.5, 1]}, None, "3 zeros or ones"),
        ({"solver": "sgd"}, None, "choose one of: lbfgs, adam"),
        ({"activation": "relu"}, None, "choose one of: none, exp"),
        ({"alpha_init": 0.0}, None, "alpha_init is 0"),
        ({"weight_decay": -1.0}, None, "must not be negative"),
    ],
)
def test_mistakes_are_one_line_that_says_what_to_do(arguments, labels, message):
    views, y = make()
    with pytest.raises(UserError, match=message) as caught:
        AlphaClassifier(**arguments).fit(views, y if labels is None else labels)
    assert "\n" not in str(caught.value)


def test_views_of_unequal_shape_or_number_are_an_error():
    views, y = make()
    with pytest.raises(UserError, match="one shape"):
        AlphaClassifier().fit([views[0], views[1][:, :4]], y)
    with pytest.raises(UserError, match="fitted on 3 views but got 2"):
        AlphaClassifier().fit(views, y).predict(views[:2])


def test_a_clone_has_the_same_parameters_and_fits_the_same():
    views, y = make()
    original = AlphaClassifier(masks=[1, 1, 0], weight_decay=0.01)
    copy = clone(original)
    assert copy.get_params() == original.get_params()
    np.testing.assert_array_equal(copy.fit(views, y).coef_, original.fit(views, y).coef_)
