"""Logistic regression on a learnt combination of the embeddings under all filters."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from figure_kedro.errors import UserError
from figure_kedro.evaluation.combined_loss import CombinedLoss
from figure_kedro.evaluation.solvers import Solution, Validation, Watch, combined_logits, solve_adam, solve_lbfgs
from figure_kedro.evaluation.view_inputs import View, as_views, is_single


class AlphaClassifier(ClassifierMixin, BaseEstimator):
    r"""The classifier of "FiGURe: Simple and Efficient Unsupervised Node Representations with Filter Augmentations"
    (Ekbote et al., 2023):

    .. math:: Z = \sum_{i=1}^{K} a_i \, \phi(E_i), \quad a_i = m_i \, g(\alpha_i), \quad
              P(y_u = c) = \mathrm{softmax}(W z_u + b)_c

    :math:`\phi(E_i)` are the (projected) embeddings under filter :math:`i`, the views; :math:`m_i \in \{0, 1\}` masks a
    filter, :math:`g` is the identity or the exponential, and :math:`\alpha` is learnt together with :math:`W` and
    :math:`b` by minimising the mean cross-entropy plus :math:`\frac{\lambda}{2} \lVert W \rVert^2`.

    ``"lbfgs"`` is quick and deterministic and minimises under :math:`\lVert a \rVert = \lVert a_{start} \rVert`, since
    otherwise a growing :math:`a` would undo the weight decay
    (:func:`~figure_kedro.evaluation.solvers.solve_lbfgs`). ``"adam"`` is the paper's: a free :math:`\alpha`, up to
    10,000 epochs, of which the best one on validation is kept. ``"paper"`` is the same to the letter, with Glorot's
    start, a bias that decays and no early stop.

    Defined results for odd input: constant views give the class frequencies of training for every node; a class that
    is missing from training is never predicted, so its nodes are scored as wrong; without weight decay separable
    classes have no minimum and ``lbfgs`` ends when the loss is flat. A view that is masked out is never read and may be
    ``None``. NaN or infinity, a single class, or no view left raise a :class:`~figure_kedro.errors.UserError`.

    Args:
        masks: :math:`m`, ``K`` zeros or ones; ``None`` is all ones.
        activation: :math:`g`: ``"none"``, which can learn negative coefficients, or ``"exp"``.
        alpha_init: Where every :math:`\alpha_i` starts; not 0 with ``"none"``.
        weight_decay: :math:`\lambda`, on the weights only (``"paper"``: on the bias too).
        solver: ``"lbfgs"``, ``"adam"`` or ``"paper"``.
        learning_rate: Adam's, for weights and bias.
        alpha_learning_rate: Adam's, for :math:`\alpha`. For ``lbfgs`` its ratio to ``learning_rate``, at most 1,
            scales the steps in :math:`\alpha` against those in the weights: it changes the way to the minimum, a ratio
            below about 0.01 leaves :math:`\alpha` near its start, and 0 keeps it there.
        max_epochs: Upper limit of iterations; ``None`` is 200 for ``lbfgs`` and 10,000 for the others.
        patience: ``adam`` stops after so many epochs without a better validation score; ``None`` never does.
        random_state: Seed of the initial weights.

    Attributes:
        alpha_: The coefficients :math:`a`, ``(K,)``, zero where a view is masked out.
        coef_: :math:`W`, ``(C, D)``, also for two classes.
        intercept_: :math:`b`, ``(C,)``.
        classes_: The labels seen in training ``(C,)``, ascending.
        n_iter_: Iterations or epochs that were run.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> views = [rng.normal(size=(100, 8)), rng.normal(size=(100, 8)) + y[:, None]]
    >>> classifier = AlphaClassifier().fit(views, y)
    >>> bool(classifier.alpha_[1] > classifier.alpha_[0])
    True
    """

    def __init__(
        self,
        masks: Sequence[int] | None = None,
        activation: Literal["none", "exp"] = "none",
        alpha_init: float = 0.1,
        weight_decay: float = 1e-3,
        solver: Literal["lbfgs", "adam", "paper"] = "lbfgs",
        learning_rate: float = 0.01,
        alpha_learning_rate: float = 0.01,
        max_epochs: int | None = None,
        patience: int | None = 500,
        random_state: int = 0,
    ) -> None:
        self.masks = masks
        self.activation = activation
        self.alpha_init = alpha_init
        self.weight_decay = weight_decay
        self.solver = solver
        self.learning_rate = learning_rate
        self.alpha_learning_rate = alpha_learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        validation: tuple[Any, Any] | None = None,
        score: Callable[[np.ndarray, np.ndarray], float] | None = None,
        watch: Callable[["AlphaClassifier"], None] | None = None,
    ) -> "AlphaClassifier":
        """Learn the coefficients and the weights together.

        Args:
            X: The views: ``K`` arrays or tensors ``(n, D)`` in a list, or in a dictionary by name; or all of them in
                one array ``(n, K, D)``, see :func:`~figure_kedro.evaluation.view_inputs.stack_views`; or a single view.
                float32 is used as it is, on the device where it lies.
            y: Labels ``(n,)``: words or numbers, of which negative ones stand for nodes without a label.
            validation: Views ``(m, D)`` and labels ``(m,)`` that choose the epoch of ``adam``; ``lbfgs`` goes to the
                minimum and does not look at them.
            score: Scores the probabilities ``(m, C)`` of validation for that, given ``classes_``; accuracy by default.
            watch: Handed this classifier from time to time, fitted as far as it has come; what it raises ends the fit.
        """
        views, kept, objective = self._prepare(X, y)

        def show(solutions: list[Solution]) -> None:
            self._adopt(solutions[0], kept, len(views))
            if watch is not None:
                watch(self)

        seen = None if watch is None else show
        if self.solver == "lbfgs":
            solution = self._solve([self.weight_decay], objective, seen)[0]
        else:
            solution = solve_adam(
                objective,
                float(self.weight_decay),
                self.alpha_init,
                self.activation,
                (self.learning_rate, self.alpha_learning_rate),
                10_000 if self.max_epochs is None else self.max_epochs,
                self.random_state,
                None if validation is None else self._as_validation(*validation, kept, score),
                None if self.solver == "paper" else self.patience,
                seen,
                as_authors=self.solver == "paper",
            )
        return self._adopt(solution, kept, len(views))

    def fit_decays(
        self,
        weight_decays: Sequence[float],
        X: Any,
        y: Any,
        watch: Callable[[list["AlphaClassifier"]], Sequence[bool] | None] | None = None,
    ) -> list["AlphaClassifier"]:
        """Learn one classifier for each weight decay, all at once and in far less time than one by one (``lbfgs``).

        Args:
            weight_decays: In place of this classifier's own.
            X, y: As in :meth:`fit`.
            watch: Handed all of them from time to time, fitted as far as they have come; it may say which go on.

        Returns:
            Copies of this classifier, in the order of the decays.
        """
        if self.solver != "lbfgs":
            raise UserError(f"several weight decays at once need the solver lbfgs, not {self.solver}")
        members = [clone(self).set_params(weight_decay=decay) for decay in weight_decays]
        for member in members:
            views, kept, objective = member._prepare(X, y)

        def adopt(solutions: list[Solution]) -> list[AlphaClassifier]:
            return [m._adopt(solution, kept, len(views)) for m, solution in zip(members, solutions, strict=True)]

        seen = None if watch is None else lambda solutions: watch(adopt(solutions))
        return adopt(self._solve(weight_decays, objective, seen))

    def _prepare(self, X: Any, y: Any) -> tuple[list[View], np.ndarray, CombinedLoss]:
        """The views, which of them are kept, and the loss on these."""
        self._check_settings()
        if y is None:
            raise UserError("requires y to be passed, but the target y is None; give the labels of the rows")
        X = self._checked(X, reset=True)
        views, self.view_names_ = as_views(X)
        kept = self._kept(len(views))
        y = _as_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise UserError("the training labels hold 1 class, fewer than two classes; choose other splits or labels")
        blocks = _as_blocks(views, kept)
        if len(y) != len(blocks[0]):
            raise UserError(f"{len(y)} labels for {len(blocks[0])} rows of embeddings")
        self.n_features_in_ = blocks[0].shape[1]
        targets = torch.as_tensor(codes, device=blocks[0].device)
        return views, kept, CombinedLoss(blocks, targets, len(self.classes_), centre=self.solver == "lbfgs")

    def _solve(
        self,
        weight_decays: Sequence[float],
        objective: CombinedLoss,
        watch: Watch | None,
    ) -> list[Solution]:
        limit = 200 if self.max_epochs is None else self.max_epochs
        ratio = self.alpha_learning_rate / self.learning_rate
        return solve_lbfgs(
            objective, self.alpha_init, self.activation, ratio, weight_decays, limit, self.random_state, watch
        )

    def _adopt(self, solution: Solution, kept: np.ndarray, count: int) -> "AlphaClassifier":
        self.alpha_ = np.zeros(count)
        self.alpha_[kept] = solution.coefficients.cpu().numpy()
        self.coef_, self.intercept_ = solution.weights.cpu().numpy(), solution.bias.cpu().numpy()
        self.n_iter_ = solution.iterations
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits ``(n, C)``, one column per class; of two classes how far the second is above the first ``(n,)``."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def _logits(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        views, _ = as_views(self._checked(X), self.view_names_)
        if len(views) != len(self.alpha_):
            raise UserError(f"the classifier was fitted on {len(self.alpha_)} views but got {len(views)}")
        kept = self._kept(len(views))
        blocks = _as_blocks(views, kept, self.coef_.shape[1])
        parameters = (torch.as_tensor(p).to(blocks[0]) for p in (self.alpha_[kept], self.coef_, self.intercept_))
        return combined_logits(blocks, *parameters).cpu().numpy()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities ``(n, C)``, each row summing to 1."""
        return torch.softmax(torch.from_numpy(self._logits(X)), dim=1).numpy()

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each row ``(n,)``."""
        best = self._logits(X).argmax(axis=1)
        return self.classes_[best]

    def _checked(self, X: Any, *, reset: bool = False) -> Any:
        """A single view as scikit-learn checks it; several views are checked where they are used."""
        if not is_single(X):
            return X
        try:
            return validate_data(self, X, reset=reset, dtype=[np.float32, np.float64])
        except ValueError as error:
            raise UserError(" ".join(str(error).split())) from error

    def _check_settings(self) -> None:
        for name, choices in (("solver", ("lbfgs", "adam", "paper")), ("activation", ("none", "exp"))):
            if getattr(self, name) not in choices:
                raise UserError(f"{name} is {getattr(self, name)!r}; choose one of: {', '.join(choices)}")
        if self.activation == "none" and self.alpha_init == 0:
            raise UserError("alpha_init is 0, from where no view can be learnt; start at 0.1 or use activation 'exp'")
        if min(self.weight_decay, self.alpha_learning_rate) < 0 or self.learning_rate <= 0:
            raise UserError("weight_decay and learning rates must not be negative, learning_rate not 0")

    def _kept(self, count: int) -> np.ndarray:
        """Indices of the views that are not masked out."""
        masks = np.ones(count) if self.masks is None else np.asarray(self.masks)
        if masks.shape != (count,) or not np.isin(masks, (0, 1)).all():
            raise UserError(f"masks must be {count} zeros or ones, one for each view, not {list(masks)}")
        if not masks.any():
            raise UserError("every view is masked out; set at least one mask to 1")
        return np.flatnonzero(masks)

    def _as_validation(
        self,
        X: Any,
        y: Any,
        kept: np.ndarray,
        score: Callable[[np.ndarray, np.ndarray], float] | None,
    ) -> Validation:
        """What scores an epoch; a label that training does not know is one that no prediction equals."""
        blocks, y = _as_blocks(as_views(X, self.view_names_)[0], kept), _as_labels(y)
        if len(y) != len(blocks[0]):
            raise UserError(f"{len(y)} validation labels for {len(blocks[0])} rows of embeddings")
        if score is None:  # without leaving the device: there may be ten thousand epochs
            known = np.where(np.isin(y, self.classes_), np.searchsorted(self.classes_, y), -1)
            targets = torch.as_tensor(known, device=blocks[0].device)
            return lambda *p: (combined_logits(blocks, *p).argmax(dim=1) == targets).double().mean().item()

        def scored(*parameters: torch.Tensor) -> float:
            proba = torch.softmax(combined_logits(blocks, *parameters), dim=1).cpu().numpy()
            return score(proba, self.classes_)

        return scored


def _as_labels(y: Any) -> np.ndarray:
    y = y.detach().cpu().numpy() if isinstance(y, torch.Tensor) else y
    try:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
    except ValueError as error:
        raise UserError(f"labels must be a list of classes: {' '.join(str(error).split())}") from error
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):
        raise UserError("some rows have no label; leave such rows out")
    if len(y) == 0:
        raise UserError("there are no labels, found array with 0 sample(s); give at least two classes")
    if y.dtype.kind in "if" and y.min() < 0:
        raise UserError(f"row {int(np.argmax(y < 0))} has no label ({y.min()}); leave such rows out")
    return y


def _as_blocks(views: Sequence[View], kept: np.ndarray, width: int | None = None) -> list[torch.Tensor]:
    """The views that are kept, as float32 tensors of one shape with finite entries."""
    if any(views[i] is None for i in kept):
        raise UserError("a view that is not masked out is missing; mask it or compute it")
    blocks = [torch.as_tensor(views[i]).to(torch.float32) for i in kept]
    shapes = {tuple(block.shape) for block in blocks}
    if len(shapes) != 1 or blocks[0].ndim != 2 or width not in (None, blocks[0].shape[1]):
        expected = "(n, D)" if width is None else f"(n, {width})"
        raise UserError(f"all views must have one shape {expected}, not {sorted(shapes)}")
    for i, block in zip(kept, blocks, strict=True):
        # NaN and infinity survive a sum, which takes no memory; a sum of large numbers may be infinite by itself
        if not torch.isfinite(block.sum()) and not (finite := torch.isfinite(block).all(dim=1)).all():
            row = int(torch.argmin(finite.int()))
            raise UserError(f"row {row} of view {i} is not finite; check how the embeddings were made")
    return blocks
