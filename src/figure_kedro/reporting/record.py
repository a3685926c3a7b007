"""What a run did and reached, as one typed record for tables, pages and programs."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from figure_kedro import __version__
from figure_kedro.migration import RECORD_FORMAT, migrate_record
from figure_kedro.reporting.paper import paper_cell
from figure_kedro.reporting.results import mean_and_std, metrics_in


class Scores(BaseModel):
    """Means and standard deviations over splits, in percent; ``None`` where a graph has no labels."""

    model_config = ConfigDict(frozen=True)

    test_mean: float | None = None
    test_std: float | None = None
    val_mean: float | None = None
    val_std: float | None = None


class Timing(BaseModel):
    """The numbers of the paper's timing tables; ``None`` where one was not measured."""

    model_config = ConfigDict(frozen=True)

    epochs: int | None = None
    mean_epoch_seconds: float | None = None
    std_epoch_seconds: float | None = None
    total_seconds: float | None = None
    peak_memory_mb: float | None = None


class RunRecord(Scores, Timing):
    """One row of a table of results, with everything that decided it.

    The scores of the deciding metric stand in the record itself, those of all metrics in ``scores``. Scores are in
    percent, standard deviations over splits (:func:`~figure_kedro.reporting.results.mean_and_std`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = RECORD_FORMAT
    dataset: str = Field(description="name of the data set")
    method: str = Field(description="what learnt: the embeddings, or a network end to end")
    head: str = Field("linear", description="what was learnt from the embeddings, or the network itself")
    dimension: int = Field(description="of the embeddings before any projection, or of a network's hidden layer")
    projection: str = Field(description="as the paper's tables tell them apart")
    variant: str | None = Field(description="the paper's ablation: empty for the main results, null for none of them")
    metric: str = Field(description="that decided on validation")
    splits: int = Field(description="how many were evaluated")
    paper_mean: float | None = Field(None, description="what the paper reports for this cell")
    paper_std: float | None = None
    scores: dict[str, Scores] = Field(description="of every metric")
    per_split: list[dict[str, Any]] = Field(description="scores in percent, and the chosen settings")
    test_twins: float | None = Field(None, description="test nodes with a twin in training, mean over splits")
    twin_free_mean: float | None = Field(None, description="score of the deciding metric on the other test nodes")
    twin_free_std: float | None = None
    storage_mb: float = Field(description="size of the embeddings of all filters")
    settings: dict[str, Any] = Field(description="of the run, all of them")
    artefacts: dict[str, str] = Field({}, description="where its files are: embeddings, weights, predictions, ...")
    key: str = Field("", description="of everything that decides the scores")
    data_checksum: str = Field(description="of edges and features")
    targets_checksum: str = Field("", description="of labels and splits")
    version: str = Field(__version__, description="of this package")
    versions: dict[str, int] = Field({}, description="of the parts that decided the scores, by group; default 1 each")
    date: str = Field("", description="when it was measured")
    commit: str = Field("", description="of the code, if it is under version control; for information")

    @classmethod
    def of_run(
        cls,
        *,
        dataset: str,
        method: str,
        dimension: int,
        projection: str,
        splits: pd.DataFrame,
        timing: Mapping[str, float],
        metric: str = "accuracy",
        head: str = "linear",
        variant: str | None = "",
        **rest: Any,
    ) -> Self:
        """Gather what a run reached.

        Args:
            dataset, method, dimension, projection, metric, head, variant, rest: The fields of these names.
            splits: One row per split, none for a graph without labels: ``split``, ``val_<metric>`` and
                ``test_<metric>`` between 0 and 1 for one metric or more, and the settings that were chosen.
            timing: The fields of :class:`Timing`, as far as they were measured.
        """
        scores = {name: _scores(splits, name) for name in dict.fromkeys([metric, *metrics_in(splits)])}
        # the paper reports accuracies, of linear classifiers and of networks that are trained end to end
        comparable = metric == "accuracy" and head in ("linear", method)
        paper = paper_cell(dataset, method, dimension, projection, variant) if comparable else None
        columns = [f"{part}_{name}" for name in metrics_in(splits) for part in ("val", "test")]
        columns += ["twin_free_test"] if "twin_free_test" in splits else []
        per_split = splits.assign(**{name: 100 * splits[name] for name in columns}).to_dict("records")
        return cls(
            dataset=dataset,
            method=method,
            head=head,
            dimension=dimension,
            projection=projection,
            variant=variant,
            metric=metric,
            splits=len(splits),
            paper_mean=paper and paper[0],
            paper_std=paper and paper[1],
            scores=scores,
            per_split=as_json(per_split),
            **_twins(splits),
            **scores[metric].model_dump(),
            **as_json({name: value for name, value in timing.items() if name in Timing.model_fields}),
            **as_json(rest),
        )

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """A record from a file, also of an older version.

        Raises:
            UserError: If it is of a newer one.
        """
        return cls.model_validate(migrate_record(stored))

    @property
    def title(self) -> str:
        """What was run, in words: ``cora: figure, 512 dimensions, fourier features``."""
        variant = f", {self.variant}" if self.variant else ""
        projection = "" if self.projection in ("none", "identity") else f", {self.projection} features"
        head = f", {self.head} head" if self.head not in ("linear", self.method) else ""
        return f"{self.dataset}: {self.method}{variant}, {self.dimension} dimensions{projection}{head}"

    @property
    def table(self) -> pd.DataFrame:
        """One row per split, scores in percent."""
        return pd.DataFrame(self.per_split)


def as_json(value: Any) -> Any:
    """The same with the types of JSON: no NaN, which is ``null``, and no types of numpy."""
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_json(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else str(value)


def _twins(splits: pd.DataFrame) -> dict[str, float | None]:
    if "twin_free_test" not in splits:
        return {}
    mean, std = mean_and_std(100 * splits["twin_free_test"])
    return as_json({"test_twins": splits["test_twins"].mean(), "twin_free_mean": mean, "twin_free_std": std})


def _scores(splits: pd.DataFrame, metric: str) -> Scores:
    if splits.empty:  # a graph without labels
        return Scores()
    test_mean, test_std = mean_and_std(100 * splits[f"test_{metric}"])
    val_mean, val_std = mean_and_std(100 * splits[f"val_{metric}"])
    numbers = {"test_mean": test_mean, "test_std": test_std, "val_mean": val_mean, "val_std": val_std}
    return Scores(**as_json(numbers))
