"""Tables of what an evaluation reached, as the paper prints them."""

from collections.abc import Mapping

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


def results_table(splits: pd.DataFrame) -> pd.DataFrame:
    """Tabulate scores in percent with the chosen settings, one row per split and a last row ``mean (std)``.

    Args:
        splits: One row per split: ``split``, scores between 0 and 1 (``val_<metric>``, ``test_<metric>``), and any
            other columns as settings that were chosen.

    Returns:
        The split, the scores as text with two decimals, then the settings, empty in the last row. See
        :func:`mean_and_std` for the standard deviation.
    """
    scores = [f"{part}_{metric}" for metric in metrics_in(splits) for part in ("val", "test")]
    scores += ["twin_free_test"] if "twin_free_test" in splits else []
    settings = [name for name in splits if name not in ("split", *scores)]
    table = splits[["split", *scores, *settings]].astype(object)
    last: dict[str, object] = dict.fromkeys(table, "")
    last["split"] = "mean (std)"
    for name in scores:
        mean, std = mean_and_std(splits[name])
        table[name] = [f"{100 * value:.2f}" for value in splits[name]]
        last[name] = f"{100 * mean:.2f} ({100 * std:.2f})"
    return pd.concat([table, pd.DataFrame([last], dtype=object)], ignore_index=True)


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
