"""Tables of what an evaluation reached, as the paper prints them."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.evaluation import METRICS


def metrics_in(splits: pd.DataFrame) -> list[str]:
    """The metrics that a table of splits has scores of, in the order of its columns."""
    return [name.removeprefix("test_") for name in splits if name.removeprefix("test_") in METRICS.names()]


def mean_and_std(scores: pd.Series | np.ndarray) -> tuple[float, float]:
    r"""Mean and standard deviation over splits:

    .. math:: \bar{x} = \frac{1}{s} \sum_i x_i, \quad \sigma = \sqrt{\frac{1}{s - 1} \sum_i (x_i - \bar{x})^2}

    with :math:`x_i` the score on split :math:`i` of :math:`s`. The division by :math:`s - 1` does not understate the
    spread of few splits. A single split has a standard deviation of 0, as the paper prints it. A NaN gives NaN: a split
    without a score is never left out in silence.
    """
    values = np.asarray(scores, dtype=float)
    if not len(values):
        raise UserError("there is no evaluated split to report; give the graph labels and splits")
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0


def with_spread(mean: float | None, std: float | None, unit: str = "") -> str:
    """A mean with the deviation behind it.

    >>> with_spread(87.5, 0.71), with_spread(87.5, None, "%"), with_spread(None, None)
    ('87.50 (0.71)', '87.50 %', 'undefined')
    """
    if mean is None:
        return "undefined"
    behind = f" {unit}" if unit else ""
    return f"{mean:.2f}{behind}" if std is None else f"{mean:.2f} ({std:.2f}){behind}"


def results_table(splits: pd.DataFrame, filters: Sequence[str] = ()) -> pd.DataFrame:
    """Tabulate scores in percent with the chosen settings, one row per split, and two last rows ``mean`` and ``std``.

    Args:
        splits: One row per split: ``split``, scores between 0 and 1 (``val_<metric>``, ``test_<metric>``), and any
            other columns as settings that were chosen.
        filters: Names of the filters, in the order of the masks ``mask_0``, ... that say which ones are used.

    Returns:
        The split, the scores as numbers with two decimals, then the settings, empty in the last rows; ``filters`` names
        those in use. See :func:`mean_and_std` for the standard deviation.
    """
    splits = _named_filters(splits, filters)
    scores = [f"{part}_{metric}" for metric in metrics_in(splits) for part in ("val", "test")]
    scores += ["twin_free_test"] if "twin_free_test" in splits else []
    settings = [name for name in splits if name not in ("split", *scores)]
    table = splits[["split", *scores, *settings]].astype({"split": object})
    spreads = {name: mean_and_std(splits[name]) for name in scores}
    last = pd.DataFrame({"split": ["mean", "std"], **{name: list(spread) for name, spread in spreads.items()}})
    table = pd.concat([table, last.astype({"split": object})], ignore_index=True)
    table[scores] = (100 * table[scores]).round(2)
    return table


def _named_filters(splits: pd.DataFrame, filters: Sequence[str]) -> pd.DataFrame:
    """Masks as the names of the filters that are in use."""
    masks = [name for name in splits if str(name).startswith("mask_")]
    if not masks or len(masks) != len(filters):
        return splits
    used = [", ".join(np.array(filters)[row.astype(bool)]) or "none" for row in splits[masks].to_numpy()]
    return splits.drop(columns=masks).assign(filters=used)


def alpha_table(alphas: pd.DataFrame, splits: pd.DataFrame, metric: str = "accuracy") -> pd.DataFrame:
    """Tabulate the coefficients of the filters, as the paper's alpha table does for the best split of each data set.

    Args:
        alphas: A row for each split and filter: ``split``, ``filter``, ``alpha``; 0 where a filter is masked out.
        splits: ``split`` and ``val_<metric>``. Validation decides which split is the best, the first if several are.
        metric: Which score is meant.

    Returns:
        One row per split: the split, a column for each filter in the order given, and ``best``, which says
        ``validation`` in the row of the best split.
    """
    filters = alphas["filter"].unique()
    table = alphas.pivot(index="split", columns="filter", values="alpha")[filters].reset_index()
    table.columns.name = None
    scores = splits.set_index("split")[f"val_{metric}"]
    best = scores.index[int(np.nanargmax(scores))] if scores.notna().any() else None
    table["best"] = np.where(table["split"] == best, "validation", "")
    return table


def timing_table(timing: Mapping[str, float], storage_mb: float, *, method: str, dim: int) -> pd.DataFrame:
    """The row of the paper's table of time and storage.

    Args:
        timing: ``epochs``, ``mean_epoch_seconds``, ``std_epoch_seconds``, ``total_seconds`` and ``peak_memory_mb``; a
            number that was not measured may be missing and stays empty.
        storage_mb: Of the representations of all filters, see :func:`representation_storage_mb`.
        method: What was trained.
        dim: Dimension of its embeddings.
    """
    measured = ("epochs", "mean_epoch_seconds", "std_epoch_seconds", "total_seconds", "peak_memory_mb")
    row = {"method": method, "dim": dim} | {name: timing.get(name, np.nan) for name in measured}
    return pd.DataFrame([row | {"storage_mb": storage_mb}])


def representation_storage_mb(num_nodes: int, dim: int, filters: int, item_bytes: int = 4) -> float:
    """Size of the embeddings of all filters in units of 2^20 bytes, the megabytes of the paper.

    >>> round(representation_storage_mb(169_343, 128, filters=4), 2)  # ogbn_arxiv
    330.75
    """
    return num_nodes * dim * filters * item_bytes / 2**20
