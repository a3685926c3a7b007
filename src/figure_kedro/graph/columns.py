"""What the columns of a table of edges and a table of nodes mean."""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Self

import pandas as pd
from pydantic import ConfigDict, Field, model_validator

from figure_kedro.errors import UserError, nearest
from figure_kedro.parts import LISTED, Decides, Settings

ALL = "all"
"""Stands for every column in a list of them."""

UNNAMED = "Unnamed: "
"""How the name begins that pandas gives a column without one."""

Names = Annotated[tuple[str, ...], LISTED]


class Columns(Settings):
    """Which column is what. Several names are a list, or one string with plus signs between them: ``a+b``.

    In lists a name may have wildcards (``x*``), and ``all`` stands for every column.

    Attributes:
        prefix: What stands before the name of a setting where a user gives it.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)  # 3 may be the name of a column
    prefix: ClassVar[str] = ""

    source_column: str | None = Field(None, description="where an edge starts; default: the first column")
    target_column: str | None = Field(None, description="where it ends; default: the first column but the source")
    weight_column: str | None = Field(None, description="positive edge weights; default: every edge weighs 1")
    directed: bool = Field(False, description="whether edges go from source to target only")
    id_column: str | None = Field(None, description="ids in the node table; default: its first column")
    label_column: str | None = Field(None, description="classes; an empty cell is a node without a label")
    feature_columns: Annotated[tuple[str, ...] | None, LISTED] = Field(
        None,
        description="numbers, or lists of numbers; default: all such columns that have no other meaning; `all+year` "
        "are these and year, whatever its name says",
    )
    one_hot: Names = Field((), description="columns of categories, of which each value becomes a feature of 0 and 1")
    split_columns: Names = Field(
        (), description="one column per split: train, val, test or empty; or masks, named after train, val and test"
    )
    ignore: Names = Field((), description="columns of either table that are left out")
    random_splits: Annotated[int, Decides.TARGETS] = Field(
        10, ge=0, description="stratified splits, drawn if there are labels and no split column"
    )
    train: Annotated[float, Decides.TARGETS] = Field(
        0.5, gt=0, lt=1, description="share of the labelled nodes for training in random splits"
    )
    val: Annotated[float, Decides.TARGETS] = Field(
        0.25, gt=0, lt=1, description="share for validation; the rest is for the test"
    )
    seed: Annotated[int, Decides.TARGETS] = Field(0, ge=0, description="of the random splits")

    def idle(self) -> Collection[str]:
        unset = {name for name in ("one_hot", "ignore") if not getattr(self, name)}
        drawn = self.label_column is not None and not self.split_columns
        if drawn and self.random_splits:
            return unset
        return unset | ({"train", "val", "seed"} if drawn else {"random_splits", "train", "val", "seed"})

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        self.check_fit()
        return self

    def check_fit(self) -> None:
        """Raise a :class:`UserError` for settings that contradict each other."""
        if self.split_columns and self.label_column is None:
            raise UserError("split_columns need labels; set label_column")
        if self.label_column is not None and self.label_column in (*(self.feature_columns or ()), *self.one_hot):
            raise UserError(f"the label column {self.label_column!r} must not be a feature column")
        if self.train + self.val >= 1:
            raise UserError(f"train and val together are {self.train + self.val:g}; leave a share below 1 for the test")

    def setting(self, name: str, *columns: str) -> str:
        """How a user names columns in a setting, or the setting alone.

        >>> Columns().setting("ignore", "a", "b")
        'ignore=a+b'
        """
        return f"{self.prefix}{name}" + (f"={'+'.join(columns)}" if columns else "")

    @property
    def no_endpoints(self) -> tuple[str | None, ...]:
        """Columns that are not taken for an end of an edge unless that is said."""
        return (self.weight_column, *self.ignore)

    @property
    def no_ids(self) -> tuple[str | None, ...]:
        """Columns that are not taken for ids of nodes unless that is said."""
        features = (name for name in self.feature_columns or () if name != ALL)
        return (self.label_column, *self.split_columns, *self.one_hot, *features, *self.ignore)


def column(frame: pd.DataFrame, place: str, name: str) -> pd.Series:
    """The column of that name, or an error with the nearest one."""
    if name not in frame.columns:
        raise UserError(f"{place} has no column {name!r}; {nearest(name, frame.columns)}")
    return frame[name]


def matching(names: Iterable[str], frame: pd.DataFrame, place: str) -> dict[str, bool]:
    """The columns that a list names, in its order, each with whether it is named itself and not by a wildcard.

    Raises:
        UserError: If a name, or a pattern, is that of no column.
    """
    found: dict[str, bool] = {}
    for name in names:
        if name == ALL and name not in frame.columns:
            found |= {key: found.get(key, False) for key in frame.columns}
            continue
        if name in frame.columns or not set(name) & set("*?"):
            found[str(column(frame, place, name).name)] = True
            continue
        matched = [key for key in frame.columns if fnmatchcase(key, name)]
        if not matched:
            raise UserError(f"{place} has no column like {name!r}; its columns are {', '.join(frame.columns)}")
        found |= {key: found.get(key, False) for key in matched}
    return found


def ignored(columns: Columns, frame: pd.DataFrame) -> set[str]:
    """The columns of a table that are left out."""
    return {key for key in frame.columns if is_among(key, columns.ignore)}


def is_among(key: str, names: Iterable[str | None]) -> bool:
    """Whether a column is named in a list, also by a wildcard."""
    return any(name is not None and (key == name or fnmatchcase(key, name)) for name in names)


def default_column(frame: pd.DataFrame, place: str, setting: str, taken: Iterable[str | None] = ()) -> str:
    """The first column that is not taken; it must have a name, or it may be an index that was saved unasked."""
    taken = tuple(taken)
    name = next((key for key in frame.columns if not is_among(key, taken)), None)
    if name is None:
        raise UserError(f"{place} has no column that is left; set {setting} to the column that is meant")
    if is_unnamed(name):
        raise UserError(f"{place}: the first column has no name; set {setting} to the column that is meant")
    return name


def is_unnamed(name: str) -> bool:
    """Whether a column has the name that pandas gives where a CSV file has none."""
    return name.startswith(UNNAMED)
