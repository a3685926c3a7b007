"""Write docs/results.md from the summaries of runs: ``python docs/renew.py [data folder]``.

Every number on the page comes out of a ``summary.json``; every row says which command makes it again.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.reporting.markdown import to_markdown

PROJECT = Path(__file__).resolve().parents[1]
AS_PUBLISHED = {
    "features.structural": ("auto", "none"),
    "filters.self_loops": (True,),
    "filters.bank": ("monomial",),
    "filters.size": (4,),
    "projection.scale": ("none",),
    "projection.dim": (512,),
}
NOT_DECISIVE = ("data_folder", "raw_mirror", "representation.training.threads")
HEAD = """# What was measured

Test accuracy in percent on the published splits, mean and standard deviation over splits. Settings of the classifier
are chosen on validation for each split, with as many trials as the row says; the test labels are read once after that.
*As published* means given features, self-loops, the monomial bank and an unscaled map of 512 features; *other
settings* is everything else that was tried. Budgets differ between rows (the column trials), so rows with different
budgets are not a fair comparison. This page is written by `python docs/renew.py`; nobody types its numbers.

One choice was not made on validation alone: that the weight decay of `lbfgs` is relative to the variance of the views.
Validation showed the smallest decay above 0 of the older range chosen on all ten splits of chameleon (63.0 % test),
and the remedy was then tried out with the test scores of its splits 0 and 1 in view. The chameleon rows are to be read
with that in mind. The rows were made while the program was still changing; their commands give nearly these numbers.
"""


def main(folder: Path) -> None:
    summaries = [json.loads(path.read_text()) for path in sorted(folder.glob("08_reporting/*/*/summary.json"))]
    rows = pd.DataFrame([row(summary) for summary in summaries if summary["test_mean"] is not None])
    order = ["dataset", "dimension", "projection", "method", "settings", "trials"]
    rows = rows.sort_values(order, ascending=[True, False, True, True, True, True])
    parts = [HEAD]
    for dataset, table in rows.groupby("dataset"):
        parts.append(f"## {dataset}\n\n{to_markdown(table.drop(columns='dataset'))}\n")
    (PROJECT / "docs" / "results.md").write_text("\n".join(parts))


def row(summary: dict[str, Any]) -> dict[str, Any]:
    settings = dict(flatten(summary["settings"]))
    published = all(settings[name] in values for name, values in AS_PUBLISHED.items())
    paper = summary["paper_mean"]
    return {
        "dataset": summary["dataset"],
        "method": summary["method"],
        "dimension": summary["dimension"],
        "projection": summary["projection"],
        "settings": "as published" if published else "other settings",
        "trials": settings["evaluation.trials"],
        "test": f"{summary['test_mean']:.2f} ({summary['test_std']:.2f})",
        "validation": f"{summary['val_mean']:.2f}",
        "paper": "" if paper is None else f"{paper:.2f}",
        "difference": "" if paper is None else f"{summary['test_mean'] - paper:+.2f}",
        "splits": summary["splits"],
        "epochs": summary["epochs"],
        "data": summary["data_checksum"][:8],
        "command": f"`{command(summary['dataset'], settings)}`",
    }


def command(dataset: str, settings: dict[str, Any]) -> str:
    """The shortest command that gives these settings."""
    loader = ProjectConfigLoader(
        str(PROJECT / "conf"), runtime_params={"dataset": dataset}, base_env="base", default_run_env="local"
    )
    defaults = dict(flatten(loader.parameters.model_dump(mode="json")))
    changes = {
        name: value
        for name, value in settings.items()
        if name not in NOT_DECISIVE and defaults.get(name, value) != value and name != "dataset"
    }
    return "kedro run --params " + ",".join([f"dataset={dataset}", *(f"{k}={v}" for k, v in changes.items())])


def flatten(settings: dict[str, Any], prefix: str = "") -> Any:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "data")
