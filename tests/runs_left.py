"""Leave what runs leave, without running anything."""

import json

import pandas as pd

from figure_kedro.reporting.record import RunRecord


def leave_scores(run, test, val=None, alphas=None, **rest):
    """Leave what an evaluation leaves: scores of every split between 0 and 1."""
    metric = rest.pop("metric", "accuracy")
    splits = pd.DataFrame({"split": range(len(test)), f"test_{metric}": test, f"val_{metric}": val or test})
    for name, values in rest.pop("columns", {}).items():
        splits[name] = values
    record = RunRecord.of_run(
        dataset=run.parameters.dataset,
        method="figure",
        dimension=8,
        projection="none",
        splits=splits,
        timing={},
        metric=metric,
        storage_mb=0.5,
        data_checksum="0123456789abcdef",
        settings=rest.pop("settings", {}),
        **rest,
    )
    folder = run.folder.path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(record.model_dump_json())
    pd.DataFrame(alphas or {"split": [], "filter": [], "alpha": []}).to_csv(folder / "split_alphas.csv", index=False)


def leave_timing(run, **timing):
    folder = run.folder.path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "timing.json").write_text(json.dumps(timing))
