"""Settings say what they decide, and every key asks the same function."""

import json
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from figure_kedro.parts import Decides, Settings, decisive, flatten
from figure_kedro.parts.settings import known, without_foreign


class Walk(Settings):
    """A group inside a group."""

    length: int = 10
    threads: Annotated[int, Decides.NOTHING] = 0


class Inner(Settings):
    """A group of settings."""

    rate: float = 0.5
    device: Annotated[str, Decides.NOTHING] = "auto"
    splits: Annotated[int, Decides.TARGETS] = 10
    walk: Walk = Walk()


class Outer(Settings):
    """One field of every sort."""

    name: str = "outer"
    limit: Annotated[int | None, Decides.NOTHING] = Field(None, ge=1, description="a mark beside a description")
    labels: Annotated[str, Decides.TARGETS] = "subject"
    table: Annotated[str | None, Decides.CONTENT] = None
    sampled: bool = False
    size: int = 2000
    values: tuple[float, ...] = (0.1, 0.2)
    inner: Inner = Inner()

    def idle(self):
        return () if self.sampled else {"size"}


def test_what_decides_nothing_is_left_out_in_groups_too():
    chosen = decisive(Outer(sampled=True, limit=3))
    assert "limit" not in chosen
    assert set(chosen) == {"name", "labels", "table", "sampled", "size", "values", "inner"}
    assert chosen["inner"] == {"rate": 0.5, "splits": 10, "walk": {"length": 10}}


def test_what_is_idle_is_left_out_and_counts_once_it_is_not():
    assert decisive(Outer(size=1)) == decisive(Outer(size=2))
    assert decisive(Outer(size=1, sampled=True))["size"] == 1


def test_an_idle_group_is_left_out_whole():
    class Tuned(Settings):
        enabled: bool = False
        inner: Inner = Inner()

        def idle(self):
            return () if self.enabled else {"inner"}

    assert decisive(Tuned()) == {"enabled": False}
    assert decisive(Tuned(enabled=True))["inner"]["rate"] == 0.5


def test_targets_are_left_out_in_groups_too_where_a_result_does_not_depend_on_them():
    with_targets, without = decisive(Outer()), decisive(Outer(), targets=False)
    assert (with_targets["labels"], with_targets["inner"]["splits"]) == ("subject", 10)
    assert "labels" not in without
    assert without["inner"] == {"rate": 0.5, "walk": {"length": 10}}


def test_a_file_decides_by_its_content_and_a_missing_one_is_not_asked_for():
    asked = []

    def digest(path):
        asked.append(path)
        return f"content of {path}"

    assert decisive(Outer(table="a.csv"), digest=digest)["table"] == "content of a.csv"
    assert decisive(Outer(), digest=digest)["table"] is None
    assert asked == ["a.csv"]


def test_a_file_that_does_not_count_is_not_read():
    class Archive(Settings):
        path: Annotated[str | None, Decides.CONTENT] = None

        def idle(self):
            return {"path"}

    def digest(path):
        raise AssertionError("it was read")

    assert decisive(Archive(path="a.npz"), digest=digest) == {}


def test_what_decides_is_plain_json():
    chosen = decisive(Outer(sampled=True))
    assert json.loads(json.dumps(chosen)) == chosen
    assert chosen["values"] == [0.1, 0.2]


def test_settings_are_frozen_and_know_no_other_name():
    with pytest.raises(ValidationError, match="frozen"):
        Outer().size = 3
    with pytest.raises(ValidationError, match="sise"):
        Outer(sise=3)


def test_flatten_gives_every_value_its_path():
    nested = {"a": {"b": {"c": 1}, "d": [1, {"e": 2}]}, "f": None, "g": {}}
    assert flatten(nested) == {"a.b.c": 1, "a.d": [1, {"e": 2}], "f": None}


def test_known_keeps_the_fields_of_a_class_in_groups_too():
    raw = {"size": 1, "other": 2, "inner": {"rate": 1.0, "other": 3, "walk": {"length": 2, "p": 4.0}}}
    assert known(raw, Outer) == {"size": 1, "inner": {"rate": 1.0, "walk": {"length": 2}}}


def test_known_leaves_a_value_that_is_no_group_for_the_check_to_refuse():
    assert known({"inner": 3, "name": {"a": 1}}, Outer) == {"inner": 3, "name": {"a": 1}}


class Fast(Settings):
    """Has less than :class:`Slow`."""

    rate: float = 0.5
    inner: Walk = Walk()


class Turning(Walk):
    """Has more than :class:`Walk`."""

    p: float = 1.0


class Slow(Settings):
    """Has more than :class:`Fast`."""

    rate: float = 0.5
    patience: int = 20
    inner: Turning = Turning()


def test_foreign_settings_are_dropped_and_misspelt_ones_are_kept():
    raw = {"rate": 1.0, "patience": 3, "patiense": 4, "inner": {"length": 2, "p": 0.5, "q": 0.5}}
    assert without_foreign(raw, Fast, [Fast, Slow]) == {"rate": 1.0, "patiense": 4, "inner": {"length": 2, "q": 0.5}}
    assert without_foreign(raw, Slow, [Fast, Slow]) == raw | {"inner": {"length": 2, "p": 0.5, "q": 0.5}}


def test_a_group_that_only_another_part_has_is_dropped_whole():
    class Grouped(Settings):
        walk: Walk = Walk()

    raw = {"walk": {"length": 3, "lenght": 4}, "rate": 1.0}
    assert without_foreign(raw, Fast, [Fast, Grouped]) == {"rate": 1.0}


def test_a_value_that_is_no_group_is_kept_for_the_check_to_refuse():
    assert without_foreign({"inner": 3}, Fast, [Fast, Slow]) == {"inner": 3}
