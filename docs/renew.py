"""Take up the summaries of runs and write docs/results.md: ``python docs/renew.py [data folder]``.

Every number on the page comes out of a ``summary.json``; every row says which command makes it again. The summaries
themselves are kept in ``docs/results.jsonl``, a line each, so that a single row can be renewed: a run with the same
command replaces the old one. What was tried where a number stays below the paper's stands in ``docs/remarks.yml``.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.evaluation import HEADS
from figure_kedro.parameters import Parameters, check_parameters
from figure_kedro.parts import flatten
from figure_kedro.reporting.markdown import to_markdown
from figure_kedro.reporting.paper import paper_cell, paper_results
from figure_kedro.reporting.record import RunRecord

PROJECT = Path(__file__).resolve().parents[1]
RECORD = PROJECT / "docs" / "results.jsonl"
PAGE = PROJECT / "docs" / "results.md"
AS_PUBLISHED = {
    "source.directed": (False,),
    "features.normalise": ("none",),
    "features.structural": ("auto", "none"),
    "filters.self_loops": (True,),
    "filters.bank": ("monomial",),
    "filters.size": (4,),
    "projection.scale": ("none",),
    "projection.dim": (512,),
}
COMPARED_TRIALS = 10
"""Of every method in the first table; a supervised network is trained from the start in every one of them."""

COMPARED = [
    ("DeepWalk", "deepwalk", 512, "none", "as published"),
    ("Node2Vec", "node2vec", 512, "none", "as published"),
    ("DGI", "dgi", 512, "none", "as published"),
    ("MVGRL", "mvgrl", 512, "none", "as published"),
    ("GRACE", "grace", 512, "none", "as published"),
    ("SUGRL", "sugrl", 512, "none", "as published"),
    ("FiGURe", "figure", 512, "none", "as published"),
    ("FiGURe's encoder, untrained", "untrained", 512, "none", "as published"),
    ("filtered features alone", "propagation", None, "none", "as published"),
    ("GCN (supervised)", "gcn", None, "none", "as published"),
    ("GPRGNN (supervised)", "gprgnn", None, "none", "as published"),
    ("H2GCN (supervised)", "h2gcn", None, "none", "as published"),
]
FIGURE = [
    ("512 dimensions, as published", "figure", 512, "none", "as published"),
    ("512 dimensions, best settings", "figure", 512, "none", "best settings"),
    ("32 dimensions with Fourier features, as published", "figure", 32, "fourier", "as published"),
    ("32 dimensions with Fourier features, best settings", "figure", 32, "fourier", "best settings"),
]
"""Lines of the first two tables: title, method, dimension (any if none is given), projection, and which settings."""

FOLDERS = ("data_folder", "raw_mirror")
BELOW = 2.0
"""Points below the paper from where on a cell has a remark."""


def main(folder: Path) -> None:
    new = [json.loads(path.read_text()) for path in sorted(folder.glob("08_reporting/*/*/summary.json"))]
    kept = merged(recorded() + [anywhere(summary) for summary in new if summary["test_mean"] is not None])
    RECORD.write_text("".join(json.dumps(summary) + "\n" for summary in kept))
    PAGE.write_text(page(kept))


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RECORD.read_text().splitlines()] if RECORD.exists() else []


def anywhere(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary without the folders of the machine that made it."""
    settings = {name: value for name, value in summary["settings"].items() if name not in FOLDERS}
    return {**summary, "settings": settings}


def merged(summaries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One summary for each command, the last one, in the order of the commands."""
    by_command = {row(summary)["command"]: summary for summary in summaries}
    return [by_command[name] for name in sorted(by_command)]


def page(summaries: list[dict[str, Any]]) -> str:
    remarks = yaml.safe_load((PROJECT / "docs" / "remarks.yml").read_text())
    rows = pd.DataFrame([row(summary) for summary in summaries])
    parts = [f"# What was measured\n\n{remarks['head']}"]
    compared, figure = rows[rows["trials"] == COMPARED_TRIALS], rows[rows["trials"] == HEADS.parse({}).trials]
    parts.append(f"## All methods at 512 dimensions\n\n{remarks['methods']}\n{cells(compared, COMPARED)}\n")
    parts.append(f"## FiGURe with the default budget\n\n{remarks['figure']}\n{cells(figure, FIGURE)}\n")
    parts.append(f"## The two solvers\n\n{remarks['solvers']}\n{solvers(rows)}\n")
    parts.append(f"## Cells {BELOW:g} points or more below the paper's\n\n{shortfalls(rows, remarks['below'])}\n")
    order = ["dimension", "projection", "method", "settings"]
    for dataset, table in rows.groupby("dataset"):
        table = table.sort_values(order, ascending=[False, True, True, True], kind="stable")
        table = table.drop(columns=["dataset", "mean", "scores", "paper_mean", "solver"])
        for name in ("ROC-AUC", "without twins"):
            if not table[name].any():
                table = table.drop(columns=name)
        parts.append(f"## {dataset}\n\n{to_markdown(table)}\n")
    return "\n".join(parts)


def cells(rows: pd.DataFrame, titles: list[tuple[str, str, int | None, str, str]]) -> str:
    """One line per title, one column per data set: what was measured, without twins where direction is kept, and the
    paper's."""
    out_of_memory = {(cell.dataset, cell.method) for cell in paper_results().itertuples() if pd.isna(cell.mean)}
    lines = []
    for title, method, dim, projection, settings in titles:
        chosen = rows[(rows["method"] == method) & (rows["projection"] == projection) & (rows["solver"] == "lbfgs")]
        chosen = chosen[chosen["settings"].str.contains(settings) & ((chosen["dimension"] == dim) | (dim is None))]
        line = {"method": title}
        for dataset in sorted(rows["dataset"].unique()):
            found = chosen[chosen["dataset"] == dataset]
            measured = "" if found.empty else f"{found['mean'].iloc[0]:.2f}"
            if not found.empty and "direction kept" in found["settings"].iloc[0]:
                measured += f" [{found['without twins'].iloc[0]}]"
            paper = paper_cell(dataset, method, dim or 512, projection)
            if paper is not None:
                measured += f" ({paper[0]:.2f})"
            elif (dataset, method) in out_of_memory:
                measured += " (OOM)"
            line[dataset] = measured.strip()
        lines.append(line)
    return to_markdown(pd.DataFrame(lines))


def solvers(rows: pd.DataFrame) -> str:
    """Runs that differ in nothing but the solver, side by side, and below them the mean of each data set."""
    rows = rows.assign(command=rows["command"].str.replace(",evaluation.solver=adam", ""))
    lbfgs, adam = (rows[rows["solver"] == name] for name in ("lbfgs", "adam"))
    pairs = lbfgs.merge(adam, on=["dataset", "command"], suffixes=("", " of adam"))
    lines = []
    for dataset, group in pairs.groupby("dataset"):
        scores, scores_of_adam = (np.stack(group[name].to_list()) for name in ("scores", "scores of adam"))
        differences = scores - scores_of_adam  # (pairs, splits)
        for (_, pair), difference in zip(group.iterrows(), differences, strict=True):
            names = ["test", "test of adam", "validation", "validation of adam"]
            lines.append({"command": pair["command"], **pair[names], "difference": with_error(difference)})
        means = {"test": f"{scores.mean():.2f}", "test of adam": f"{scores_of_adam.mean():.2f}"}
        means["difference"] = with_error(differences.mean(axis=0))
        lines.append({"command": f"mean of {len(group)} on {dataset}", **means})
    return to_markdown(pd.DataFrame(lines).fillna(""))


def with_error(differences: np.ndarray) -> str:
    """The mean of differences, one a split, and its standard error."""
    return f"{differences.mean():+.2f} ± {differences.std(ddof=1) / len(differences) ** 0.5:.2f}"


def shortfalls(rows: pd.DataFrame, remarks: dict[str, Any]) -> str:
    low = rows[(rows["paper_mean"] - rows["mean"]) >= BELOW]
    if low.empty:
        return "None."
    lines = []
    for _, cell in low.sort_values(["method", "dataset"]).iterrows():
        name = f"{cell['method']} on {cell['dataset']}, {cell['dimension']} dimensions"
        if cell["projection"] != "none":
            name += f", {cell['projection']}"
        tried = remarks.get(cell["method"], {}).get(cell["dataset"], remarks.get(cell["method"], {}).get("all", ""))
        name += f", {cell['settings']}, {cell['trials']} trials"
        lines.append(f"- {name}: {cell['test']} against {cell['paper']}. {tried}".rstrip())
    return "\n".join(lines)


def row(summary: dict[str, Any]) -> dict[str, Any]:
    record = RunRecord.read(summary)  # of any version; a setting that is newer than the run has its default
    settings = check_parameters(record.settings)
    defaults = parameters(settings)
    paper = record.paper_mean
    return {
        "dataset": record.dataset,
        "method": record.method,
        "dimension": record.dimension,
        "projection": record.projection,
        "settings": kind(settings, defaults),
        "trials": settings.evaluation.trials,
        "test": f"{record.test_mean:.2f} ({record.test_std:.2f})",
        "ROC-AUC": f"{area.test_mean:.2f}" if (area := record.scores.get("roc_auc")) else "",
        "validation": f"{record.val_mean:.2f}",
        "without twins": "" if record.twin_free_mean is None else f"{record.twin_free_mean:.2f}",
        "paper": "" if paper is None else f"{paper:.2f}",
        "difference": "" if paper is None else f"{record.test_mean - paper:+.2f}",
        "splits": record.splits,
        "epochs": record.epochs,
        "data": record.data_checksum[:8],
        "command": f"`{command(settings, defaults)}`",
        "solver": getattr(settings.evaluation, "solver", "lbfgs"),
        "mean": record.test_mean,
        "scores": np.array([split[f"test_{record.metric}"] for split in record.per_split]),
        "paper_mean": paper,
    }


def decisive(settings: Parameters) -> dict[str, Any]:
    """What decides a row by path; without a map one scale for all numbers is none, the decay being relative."""
    decided = flatten(settings.decisive("evaluation"))
    if decided.get("projection.map") == "identity" and decided.get("projection.scale") == "rms":
        decided |= {"projection.scale": "none"}
    ignored = ("projection.norm",) * (decided.get("projection.map") == "identity")
    return {path: value for path, value in decided.items() if not path.endswith(".version") and path not in ignored}


def kind(settings: Parameters, defaults: Parameters) -> str:
    """Which of the two rows this is, or neither; where the data set's file changes nothing it is both.

    In both the method and the splits are those of the configuration, so that no two rows of one budget claim a cell.
    """
    ours, theirs = decisive(settings), decisive(defaults)
    free = ("evaluation.trials", "evaluation.solver", "source.directed")
    changed = {path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)} - set(free)
    if any(path.startswith(("representation.", "evaluation.", "source.")) for path in changed):
        return "other settings" + ", direction kept" * (ours.get("source.directed") is True)
    published = all(ours[path] in values for path, values in AS_PUBLISHED.items() if path in ours)
    best = not changed and ours.get("source.directed") == theirs.get("source.directed")
    kept = ours.get("source.directed") is True
    names = ["as published"] * published + ["best settings"] * best
    return ", ".join((names or ["other settings"]) + ["direction kept"] * kept)


def parameters(settings: Parameters) -> Parameters:
    """The configuration of a data set for the same method, size, map and head."""
    head, representation = settings.evaluation.head, settings.representation
    chosen: dict[str, Any] = {"dataset": settings.dataset, "evaluation": {"head": head}}
    if HEADS[head].reads == "embeddings":
        names = [name for name in ("method", "dim") if hasattr(representation, name)]
        chosen["representation"] = {name: getattr(representation, name) for name in names}
        chosen["projection"] = {"map": settings.projection.map}
    return configured(json.dumps(chosen))


@cache
def configured(chosen: str) -> Parameters:
    """The configuration with some parameters given, as JSON; reading it takes longer than all the rest of a row."""
    given = json.loads(chosen)
    loader = ProjectConfigLoader(str(PROJECT / "conf"), runtime_params=given, base_env="base", default_run_env="local")
    return loader.parameters


def command(settings: Parameters, defaults: Parameters) -> str:
    """The shortest command that gives these settings."""
    plain, ours, theirs = (
        decisive(values) for values in (configured(json.dumps({"dataset": settings.dataset})), settings, defaults)
    )
    chosen = ("evaluation.head", "representation.method", "representation.dim", "projection.map")
    if HEADS[settings.evaluation.head].reads == "graph":
        chosen = chosen[:1]
    changes = {
        path: value for path, value in ours.items() if (plain if path in chosen else theirs).get(path, value) != value
    }
    return "kedro run --params " + ",".join(
        [f"dataset={settings.dataset}", *(f"{path}={value}" for path, value in changes.items())]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "data")
