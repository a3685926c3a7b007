"""Logistic regression on a learnt combination of the embeddings under all filters."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from figure_kedro.errors import UserError
from figure_kedro.evaluation.combined_loss import CombinedLoss
from figure_kedro.evaluation.solvers import Solution, Validation, combined_logits, solve_adam, solve_lbfgs

View = np.ndarray | torch.Tensor | None


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
    10,000 epochs, of which the best one on validation is kept.

    Defined results for odd input: constant views give the class frequencies of training for every node; a class that
    is missing from training is never predicted, so its nodes are scored as wrong; without weight decay separable
    classes have no minimum and ``lbfgs`` ends when the loss is flat. A view that is masked out is never read and may be
    ``None``. NaN or infinity, a single class, or no view left raise a :class:`~figure_kedro.errors.UserError`.

    Args:
        masks: :math:`m`, ``K`` zeros or ones; ``None`` is all ones.
        activation: :math:`g`: ``"none"``, which can learn negative coefficients, or ``"exp"``.
        alpha_init: Where every :math:`\alpha_i` starts; not 0 with ``"none"``.
        weight_decay: :math:`\lambda`, on the weights only.
        solver: ``"lbfgs"`` or ``"adam"``.
        learning_rate: Adam's, for weights and bias.
        alpha_learning_rate: Adam's, for :math:`\alpha`. For ``lbfgs`` its ratio to ``learning_rate``, at most 1,
            scales the steps in :math:`\alpha` against those in the weights: it changes the way to the minimum, a ratio
            below about 0.01 leaves :math:`\alpha` near its start, and 0 keeps it there.
        max_epochs: Upper limit of iterations; ``None`` is 200 for ``lbfgs`` and 10,000 for ``adam``.
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
        solver: Literal["lbfgs", "adam"] = "lbfgs",
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
        views: Sequence[View],
        y: np.ndarray,
        validation: tuple[Sequence[View], np.ndarray] | None = None,
        score: Callable[[np.ndarray, np.ndarray], float] | None = None,
        watch: Callable[["AlphaClassifier"], None] | None = None,
    ) -> "AlphaClassifier":
        """Learn the coefficients and the weights together.

        Args:
            views: ``K`` arrays or tensors ``(n, D)``; float32 is used as it is, on the device where it lies.
            y: Integer labels ``(n,)``.
            validation: Views ``(m, D)`` and labels ``(m,)`` that choose the epoch of ``adam``; ``lbfgs`` goes to the
                minimum and does not look at them.
            score: Scores the probabilities ``(m, C)`` of validation for that, given ``classes_``; accuracy by default.
            watch: Handed this classifier from time to time, fitted as far as it has come; what it raises ends the fit.
        """
        self._check_settings()
        kept = self._kept(len(views))
        y = _as_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise UserError("the training labels hold fewer than two classes; choose other splits or labels")
        blocks = _as_blocks(views, kept)
        if len(y) != len(blocks[0]):
            raise UserError(f"{len(y)} labels for {len(blocks[0])} rows of embeddings")
        targets = torch.as_tensor(codes, device=blocks[0].device)
        objective = CombinedLoss(
            blocks, targets, len(self.classes_), float(self.weight_decay), centre=self.solver == "lbfgs"
        )

        def adopt(solution: Solution) -> None:
            self.alpha_ = np.zeros(len(views))
            self.alpha_[kept] = solution.coefficients.cpu().numpy()
            self.coef_, self.intercept_ = solution.weights.cpu().numpy(), solution.bias.cpu().numpy()
            self.n_iter_ = solution.iterations

        def show(solution: Solution) -> None:
            adopt(solution)
            if watch is not None:
                watch(self)

        seen = None if watch is None else show
        checked = None if validation is None else self._as_validation(*validation, kept, score)
        if self.solver == "lbfgs":
            ratio = self.alpha_learning_rate / self.learning_rate
            limit = 200 if self.max_epochs is None else self.max_epochs
            solution = solve_lbfgs(
                objective,
                self.alpha_init,
                self.activation,
                ratio,
                limit,
                self.random_state,
                seen,
            )
        else:
            rates = (self.learning_rate, self.alpha_learning_rate)
            limit = 10_000 if self.max_epochs is None else self.max_epochs
            solution = solve_adam(
                objective,
                self.alpha_init,
                self.activation,
                rates,
                limit,
                self.random_state,
                checked,
                self.patience,
                seen,
            )
        adopt(solution)
        return self

    def decision_function(self, views: Sequence[View]) -> np.ndarray:
        """Logits ``(n, C)``, one column per class of ``classes_``, also for two classes."""
        check_is_fitted(self)
        if len(views) != len(self.alpha_):
            raise UserError(f"the classifier was fitted on {len(self.alpha_)} views but got {len(views)}")
        kept = self._kept(len(views))
        blocks = _as_blocks(views, kept, self.coef_.shape[1])
        parameters = (torch.as_tensor(p).to(blocks[0]) for p in (self.alpha_[kept], self.coef_, self.intercept_))
        return combined_logits(blocks, *parameters).cpu().numpy()

    def predict_proba(self, views: Sequence[View]) -> np.ndarray:
        """Probabilities ``(n, C)``, each row summing to 1."""
        return torch.softmax(torch.from_numpy(self.decision_function(views)), dim=1).numpy()

    def predict(self, views: Sequence[View]) -> np.ndarray:
        """The most probable label of each row ``(n,)``."""
        return self.classes_[self.decision_function(views).argmax(axis=1)]

    def _check_settings(self) -> None:
        for name, choices in (("solver", ("lbfgs", "adam")), ("activation", ("none", "exp"))):
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
        views: Sequence[View],
        y: np.ndarray,
        kept: np.ndarray,
        score: Callable[[np.ndarray, np.ndarray], float] | None,
    ) -> Validation:
        """What scores an epoch; a label that training does not know is one that no prediction equals."""
        blocks, y = _as_blocks(views, kept), _as_labels(y)
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


def _as_labels(y: np.ndarray) -> np.ndarray:
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "iu" or len(y) == 0:
        raise UserError(f"labels must be a list of integers, not {y.dtype} of shape {y.shape}")
    if y.min() < 0:
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
        if not torch.isfinite(block.sum(dtype=torch.float64)):  # NaN and infinity survive a sum
            row = int(torch.argmin(torch.isfinite(block).all(dim=1).int()))
            raise UserError(f"row {row} of view {i} is not finite; check how the embeddings were made")
    return blocks
