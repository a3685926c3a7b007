"""What an experiment is: a grid of settings, and what each of its cells shows."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from figure_kedro.errors import UserError, nearest
from figure_kedro.experiments.shows import SHOWS
from figure_kedro.parts import Settings

Changes = dict[str, Any]
"""Settings by their paths, as ``--params`` takes them; ``show`` among them says what the cell shows."""


def _as_list(axis: Any) -> Any:
    return axis if isinstance(axis, list) else [axis]


Axis = Annotated[list[dict[str, Changes]], BeforeValidator(_as_list)]
"""Titles with the settings behind them; several of them are crossed."""


class Experiment(Settings):
    """One file of ``conf/<environment>/experiments``.

    ::

        title: Node classification
        settings: {protocol: paper, evaluation.trials: 10}
        columns: {cora: {dataset: cora}, squirrel: {dataset: squirrel}}
        rows:
          - {DGI: {representation.method: dgi}, FiGURe: {representation.method: figure}}
          - {"32": {representation.dim: 32}, "512": {representation.dim: 512}}
        show: score

    has four rows, ``DGI, 32`` to ``FiGURe, 512``, and two columns. What stands later wins: ``settings``, the column's,
    the row's, ``over``, the command line. With ``over`` a cell is the mean over several runs, or, with
    ``together: best_on_validation``, the score of that run which does best on validation, chosen anew in each split.
    """

    title: str = Field(description="of the table or figure")
    caption: str = Field("", description="what a reader should know")
    settings: Changes = Field({}, description="of every cell")
    rows: Axis = Field(description="titles with their settings; a list of such groups is crossed")
    columns: Axis = Field(description="the same")
    over: Axis = Field([{"": {}}], description="the same; a cell shows these runs together")
    together: Literal["mean", "best_on_validation"] = Field(
        "mean", description="of the runs: their mean, or in each split the one with the best validation score"
    )
    show: str = Field("score", description="what a cell shows; a row or a column may have its own")
    paper: bool = Field(False, description="whether the paper has this table, and its numbers stand beside ours")
    gain: str = Field("", description="title of a row; one more column says by how much it is ahead of the others")
    remarks: dict[str, str] = Field({}, description="a line below the table on a row, a column or a cell, row / column")

    @classmethod
    def read(cls, name: str, raw: Any) -> "Experiment":
        """Check the content of a file; a mistake is one line."""
        try:
            experiment = cls.model_validate(raw)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"] if isinstance(part, str)) or "its content"
            if where == "its content":
                raise UserError(
                    f"experiment {name}: a file in conf/<environment>/experiments begins with the experiment's name "
                    f"and has its entries below: {{my_comparison: {{title: ..., rows: ..., columns: ...}}}}"
                ) from None
            if first["type"] == "extra_forbidden":
                raise UserError(
                    f"experiment {name}: unknown entry {where!r}; {nearest(where, cls.model_fields)}"
                ) from None
            raise UserError(f"experiment {name}: {where}: {first['msg'].lower()}") from None
        experiment._check_titles(name)
        if experiment.together != "mean" and any(cell.show != "score" for cell in experiment.cells({})):
            raise UserError(f"experiment {name}: together: only a score is chosen on validation; show score, or mean")
        return experiment

    def _check_titles(self, name: str) -> None:
        """A remark or a gain is about something that the table has."""
        rows, columns = self.row_titles, self.column_titles
        cells = [f"{row} / {column}" for row in rows for column in columns]
        for title in self.remarks:
            if title not in (known := [*rows, *columns, *cells]):
                raise UserError(f"experiment {name}: remarks: there is no {title!r}; {nearest(title, known)}")
        if self.gain and self.gain not in rows:
            raise UserError(f"experiment {name}: gain: there is no row {self.gain!r}; {nearest(self.gain, rows)}")

    def check_given(self, name: str, given: Mapping[str, Any]) -> None:
        """What tells cells apart cannot be given for all of them: their titles would say what is not so."""
        axes = (self.rows, self.columns, self.over)
        own = {path for axis in axes for _, changes in crossed(axis) for path in changes} - {"evaluation.trials"}
        for path in given:
            if path in own:
                mend = "take --datasets for the cells of one" if path == "dataset" else "leave it out of --params"
                raise UserError(f"experiment {name}: {path} is what tells its cells apart; {mend}")

    def cells(self, given: Mapping[str, Any]) -> "Iterator[Cell]":
        """All cells, row by row, with what is given on the command line on top."""
        for (row, of_row), (column, of_column) in itertools.product(crossed(self.rows), crossed(self.columns)):
            runs = tuple(
                {**self.settings, **of_column, **of_row, **of_run, **given} for _, of_run in crossed(self.over)
            )
            show = str(of_row.get("show", of_column.get("show", self.show)))
            yield Cell(row=row, column=column, show=show, runs=tuple(_without_show(changes) for changes in runs))

    @property
    def best_of(self) -> Literal["column", "row"]:
        """Where values can be compared: within a column, or within a row where the rows are data sets."""
        axes = (self.rows, self.columns)
        of_rows, of_columns = (any("dataset" in changes for _, changes in crossed(axis)) for axis in axes)
        return "row" if of_rows and not of_columns else "column"

    @property
    def row_titles(self) -> list[str]:
        return [title for title, _ in crossed(self.rows)]

    @property
    def column_titles(self) -> list[str]:
        return [title for title, _ in crossed(self.columns)]


class Cell(Settings):
    """One cell of a table: the runs behind it, of which there is one but for means over several.

    Args:
        row, column: Its titles.
        show: What it shows, a name of :data:`~figure_kedro.experiments.shows.SHOWS`, with a dot and a detail or not.
        runs: Settings of every run by their paths.
    """

    row: str
    column: str
    show: str
    runs: tuple[Changes, ...]

    def check(self, experiment: str) -> None:
        """Whether there is such a thing to show.

        Raises:
            UserError: If there is not.
        """
        where = f"experiment {experiment}, {self.row or '-'} / {self.column or '-'}"
        name, _, detail = self.show.partition(".")
        if name not in SHOWS:
            raise UserError(f"{where}: nothing called {name!r} can be shown; {nearest(name, SHOWS)}")
        known = SHOWS[name].details
        details = None if known is None else known()
        if details == ("",) and detail:
            raise UserError(f"{where}: {name!r} has no {detail!r}; show {name} alone")
        if details is not None and detail not in details:
            choices = [f"{name}.{one}" if one else name for one in details]
            raise UserError(f"{where}: {self.show!r} cannot be shown; {nearest(self.show, choices)}")
        if details is None and not detail:
            raise UserError(f"{where}: say what of {name!r} is to be shown: {name}.something")


def crossed(axis: list[dict[str, Changes]]) -> Iterator[tuple[str, Changes]]:
    """Titles and settings of all combinations.

    >>> list(crossed([{"a": {"x": 1}, "b": {"x": 2}}, {"": {}, "c": {"y": 3}}]))
    [('a', {'x': 1}), ('a, c', {'x': 1, 'y': 3}), ('b', {'x': 2}), ('b, c', {'x': 2, 'y': 3})]
    """
    for combination in itertools.product(*(group.items() for group in axis)):
        title = ", ".join(str(title) for title, _ in combination if str(title))
        yield title, {path: value for _, changes in combination for path, value in (changes or {}).items()}


def _without_show(changes: Changes) -> Changes:
    return {path: value for path, value in changes.items() if path != "show"}
