"""The page that shows a run: what was run, what it reached, and what it looks like."""

import re
from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pandas as pd

from figure_kedro.parts import flatten
from figure_kedro.reporting.document import Content, box, page, pairs, picture, tag
from figure_kedro.reporting.page_style import RUN_STYLE
from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.results import with_spread

PICTURES = {
    "confusion_matrix": "Which classes are taken for which",
    "alphas": "How much each filter weighs",
    "filter_responses": "What the filters of this run do over the spectrum",
    "tsne": "The embeddings in the plane, by t-SNE",
    "correlations": "Correlations between the embeddings of nodes",
    "loss": "The loss of training",
}
"""What each picture shows, by its name."""

STATISTICS = {
    "dataset": "name",
    "train": "training nodes of split 0",
    "val": "validation nodes of split 0",
    "test": "test nodes of split 0",
    "homophily": "edges between equal labels",
    "feature_names": "columns taken for features",
    "same_neighbours": "nodes with a twin: equal neighbours",
    "test_same_neighbours_in_training": "test nodes with a twin in training",
    "same_neighbours_and_features": "nodes with equal neighbours and features",
    "test_same_neighbours_and_features_in_training": "test nodes with such a one in training",
}
"""What the columns of the statistics are called here, where their names do not say it."""

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def run_page(
    record: RunRecord,
    tables: Mapping[str, pd.DataFrame],
    pictures: Mapping[str, bytes],
    paths: Mapping[str, str],
    command: str = "",
) -> str:
    """Show a run on one page that opens from disk and prints.

    Args:
        record: Of the run.
        tables: ``statistics`` has one row about the data set, ``results`` one for each split and two for mean and
            deviation, ``alphas`` one for each split with the coefficients of the filters; the latter may be empty.
        pictures: PNG by the names of :data:`PICTURES`; those that are missing are left out.
        paths: Where everything is kept, by what it is.
        command: What was typed for it.
    """

    def shown(*names: str) -> list[Element]:
        figures = [_figure(pictures[name], PICTURES[name], record.title) for name in names if name in pictures]
        return [tag("div", *figures, class_="figures")] if figures else []

    results, alphas = tables["results"], tables["alphas"]
    labelled = bool(record.per_split)
    sections = [
        _section("Result", pairs(_reached(record))),
        _section("Data", pairs(_data(record, tables["statistics"]))),
        _section("Scores on every split, in percent", *_boxed(results, "Scores on every split")),
        _section("Coefficients of the filters", *_boxed(alphas, "Coefficients of the filters", digits=4)),
        _section("Evaluation", *(shown("confusion_matrix", "alphas") if labelled else [])),
        _section("Filters and embeddings", *shown("filter_responses", "tsne", "correlations")),
        _section("Training", *shown("loss"), pairs(_training(record))),
        _section("Files", pairs((name.replace("_", " "), tag("code", path)) for name, path in paths.items())),
        _section("Settings", tag("div", *_settings(record.settings), class_="settings")),
    ]
    typed = [tag("pre", tag("code", command))] if command else []
    made = f"{record.date}, figure_kedro {record.version}" + (f", code {record.commit}" if record.commit else "")
    head = [tag("h1", record.title), tag("p", f"{made}, run {record.key}", class_="notes"), *typed]
    return page(record.title, *head, *(section for section in sections if section is not None), style=RUN_STYLE)


def _figure(png: bytes, caption: str, title: str) -> Element:
    return tag("figure", picture(png, f"{caption}: {title}"), tag("figcaption", caption))


def _section(title: str, *content: Content) -> Element | None:
    return tag("section", tag("h2", title), *content) if content else None


def _reached(record: RunRecord) -> Iterable[tuple[str, Content]]:
    if record.test_mean is None:
        yield "evaluation", "none: there are no labels, or no score is defined"
        return
    over = f" over {record.splits} split{'s' * (record.splits != 1)}"
    yield f"test {record.metric}", tag("strong", with_spread(record.test_mean, record.test_std, "%"), over)
    yield f"validation {record.metric}", with_spread(record.val_mean, record.val_std, "%")
    if record.paper_mean is not None:
        difference = round(record.test_mean - record.paper_mean, 2) + 0.0  # no "-0.00"
        paper = with_spread(record.paper_mean, record.paper_std, "%")
        yield "the paper's number", f"{paper}; ours is {difference:+.2f} points from it"
    else:
        yield "the paper's number", "none for these settings"
    if record.test_twins:
        free = with_spread(record.twin_free_mean, record.twin_free_std, "%")
        yield "without twins", f"{free}; {record.test_twins:.0f} test nodes have the very neighbours of a training node"
    for name, scores in record.scores.items():
        if name != record.metric:
            yield f"test {name}", with_spread(scores.test_mean, scores.test_std, "%")


def _data(record: RunRecord, statistics: pd.DataFrame) -> Iterable[tuple[str, Content]]:
    for name, value in statistics.iloc[0].items():
        words = STATISTICS.get(str(name), str(name).replace("_", " "))
        if name == "homophily":
            yield words, "unknown" if pd.isna(value) else f"{100 * value:.2f} %"
        elif pd.isna(value):  # features without names
            continue
        elif isinstance(value, bool | np.bool_):
            yield words, "yes" if value else "no"
        else:
            yield words, f"{value:,.10g}" if isinstance(value, Number) else str(value)
    yield "checksum of edges and features", tag("code", record.data_checksum)
    if record.targets_checksum:
        yield "checksum of labels and splits", tag("code", record.targets_checksum)


def _boxed(table: pd.DataFrame, label: str, digits: int = 2) -> list[Element]:
    return [] if table.empty else [box(_table(table, digits), label)]


def _training(record: RunRecord) -> Iterable[tuple[str, str]]:
    units = {
        "epochs": ("epochs", "{:,.0f}"),
        "mean_epoch_seconds": ("an epoch", "{:.4g} s"),
        "std_epoch_seconds": ("standard deviation of epochs", "{:.4g} s"),
        "total_seconds": ("all epochs", "{:.4g} s"),
        "peak_memory_mb": ("memory at most", "{:,.0f} MB"),
    }
    for name, (words, form) in units.items():
        value = getattr(record, name)
        if value is not None:
            yield words, form.format(value)
    yield "embeddings of all filters", f"{record.storage_mb:,.4g} MB"


def _settings(settings: Mapping[str, Any]) -> list[Element]:
    alone = {name: value for name, value in settings.items() if not isinstance(value, Mapping)}
    groups = {"": alone} | {name: value for name, value in settings.items() if isinstance(value, Mapping)}
    return [
        tag("div", tag("h3", name or "run"), pairs((path, _shown(value)) for path, value in flatten(group).items()))
        for name, group in groups.items()
        if group
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return str(value).lower()  # as it is typed
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _table(table: pd.DataFrame, digits: int = 2) -> Element:
    columns = [_column(table[name], digits) for name in table]
    sides = ["number" if pd.api.types.is_numeric_dtype(table[name]) else "text" for name in table]
    titles = [_powers(str(name).replace("_", " ")) for name in table]
    head = tag("tr", *(tag("th", title, scope="col", class_=side) for title, side in zip(titles, sides, strict=True)))
    rows = [
        tag("tr", *(tag("td", cell, class_=side) for cell, side in zip(cells, sides, strict=True)))
        for cells in zip(*columns, strict=True)
    ]
    for row in rows:
        row.tail = "\n"
    return tag("table", tag("thead", head), "\n", tag("tbody", *rows))


def _column(values: pd.Series, digits: int) -> list[str]:
    """Cells as text: whole numbers without decimals, numbers too small for the digits with three of their own."""
    if not pd.api.types.is_float_dtype(values):
        return ["" if pd.isna(value) else _powers(str(value)) for value in values]
    known = values.dropna()
    if (known == known.round()).all():
        return ["" if pd.isna(value) else f"{value:.0f}" for value in values]
    small = bool((known[known != 0].abs() < 10.0**-digits).any())
    return ["" if pd.isna(value) else f"{value:.3g}" if small else f"{value:.{digits}f}" for value in values]


def _powers(text: str) -> str:
    """Names of filters as in a formula.

    >>> _powers("I, A, A^2, A^10")
    'I, A, A², A¹⁰'
    """
    return re.sub(r"\^(\d+)", lambda power: power[1].translate(SUPERSCRIPTS), text)
