"""One rule of registration for parts of every kind."""

import sys
from importlib.metadata import EntryPoint
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from figure_kedro.errors import UserError
from figure_kedro.parameters import KINDS
from figure_kedro.parts import Kind, OneOf, Part, Settings
from figure_kedro.parts import kind as module


class ShapeSettings(Settings):
    """What all shapes share."""

    shape: str = Field(description="name of the shape")
    colour: str = "red"


class CircleSettings(ShapeSettings):
    """A circle's."""

    shape: Literal["circle"] = "circle"
    radius: float = Field(1.0, gt=0)


class SquareSettings(ShapeSettings):
    """A square's."""

    shape: Literal["square"] = "square"
    side: float = Field(2.0, gt=0)


class Shape(Part):
    """A part that keeps its settings."""

    def __init__(self, settings):
        self.settings = settings


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    """A kind with a circle and a square, defined here, and an empty package of its own."""
    (tmp_path / "no_shapes").mkdir(exist_ok=True)
    (tmp_path / "no_shapes" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    kind = Kind("shape", tag="shape", package="no_shapes", default="circle")

    @kind.register
    class Square(Shape):
        Settings = SquareSettings

    @kind.register
    class Circle(Shape):
        Settings = CircleSettings

    return kind


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Sets the modules of parts that others bring; all are imported anew, and forgotten afterwards."""

    brought = []

    def bring(names, **sources):
        brought.extend(sources)
        monkeypatch.setenv(module.MODULES, names)
        monkeypatch.syspath_prepend(tmp_path)
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
        module.import_plugins.cache_clear()

    yield bring
    monkeypatch.undo()
    for name in brought:
        sys.modules.pop(name, None)
    module.import_plugins.cache_clear()


def test_parts_are_known_by_the_name_that_their_settings_have(shapes):
    assert shapes.names() == ("circle", "square")
    assert shapes["square"].Settings is SquareSettings


def test_settings_choose_their_part(shapes):
    settings = shapes.parse({"shape": "square", "side": 3})
    assert settings == SquareSettings(side=3.0)
    assert shapes.part(settings) is shapes["square"]
    assert shapes.build(settings).settings is settings


def test_without_a_choice_the_default_is_taken(shapes):
    assert shapes.parse({"radius": 3}) == CircleSettings(radius=3.0)
    assert shapes.chosen({}) is shapes["circle"]


def test_unknown_part_is_one_line_with_the_nearest_name(shapes):
    for ask in (lambda: shapes["circel"], lambda: shapes.parse({"shape": "circel"})):
        with pytest.raises(UserError) as error:
            ask()
        assert str(error.value) == "there is no shape 'circel'; did you mean 'circle'?"
    with pytest.raises(UserError, match="choose one of: circle, square"):
        shapes["xyz"]


def test_a_kind_without_a_default_asks_for_a_choice():
    with pytest.raises(UserError, match="there is no source 'None'; choose one of: arxiv, csbm") as error:
        KINDS["source"].parse({})
    assert "\n" not in str(error.value)


def test_settings_of_other_parts_are_left_aside_and_misspelt_ones_are_not(shapes):
    raw = {"shape": "square", "radius": 2.0, "side": 3.0, "sied": 1.0, "colour": "blue"}
    assert shapes.only_chosen(raw) == {"shape": "square", "side": 3.0, "sied": 1.0, "colour": "blue"}
    assert shapes.only_chosen({"radius": 2.0, "side": 3.0}) == {"radius": 2.0}


def test_a_name_that_two_classes_register_is_one_line(shapes):
    class Another(Shape):
        Settings = CircleSettings

    with pytest.raises(
        UserError, match=r"there are two parts called 'circle' for shape: in .*test_kind and in"
    ) as error:
        shapes.register(Another)
    assert "\n" not in str(error.value)


def test_a_refused_part_does_not_take_the_place_of_the_first(shapes):
    first = shapes["circle"]

    class Another(Shape):
        Settings = CircleSettings

    with pytest.raises(UserError):
        shapes.register(Another)
    assert shapes["circle"] is first


def test_a_class_that_is_defined_again_takes_its_own_place(shapes):
    def define():
        class Again(Shape):
            class Settings(ShapeSettings):
                shape: Literal["again"] = "again"

        return Again

    first, second = define(), define()
    assert shapes.register(first) is first
    assert shapes.register(second) is second
    assert shapes["again"] is second


def test_a_part_without_settings_is_known_by_its_own_name(tmp_path, shapes):
    class Point(Part):
        name = "point"

    shapes.register(Point)
    assert shapes["point"] is Point
    assert shapes.names() == ("circle", "point", "square")


HEXAGON = """
from typing import Literal
from figure_kedro.parts import Part, Settings
from hexagons import SHAPES

@SHAPES.register
class Hexagon(Part):
    class Settings(Settings):
        shape: Literal["hexagon"] = "hexagon"
"""


def test_a_new_file_in_the_package_is_a_new_part(tmp_path, monkeypatch):
    (tmp_path / "hexagons").mkdir()
    start = "from figure_kedro.parts import Kind\nSHAPES = Kind('shape', tag='shape', package='hexagons')\n"
    (tmp_path / "hexagons" / "__init__.py").write_text(start)
    (tmp_path / "hexagons" / "hexagon.py").write_text(HEXAGON)
    monkeypatch.syspath_prepend(tmp_path)
    from hexagons import SHAPES

    assert SHAPES.names() == ("hexagon",)


@pytest.fixture
def banks(monkeypatch):
    """The filter banks, as they were once the test is over."""
    banks = KINDS["filters"]
    banks.names()
    monkeypatch.setattr(banks, "_parts", dict(banks._parts))
    return banks


def bank_of(name):
    """The source of a module with a bank of that name."""
    return f"""
from typing import Literal
from figure_kedro.filters import BankSettings, BANKS
from figure_kedro.filters.banks.monomial import Monomial

class MySettings(BankSettings):
    bank: Literal["{name}"] = "{name}"

@BANKS.register
class MyBank(Monomial):
    Settings = MySettings
"""


def test_modules_that_the_environment_names_bring_parts(banks, plugins):
    plugins("my_bank, my_other_bank", my_bank=bank_of("mine"), my_other_bank=bank_of("other"))
    assert {"mine", "other"} <= set(banks.names())
    assert banks.build(banks.parse({"bank": "mine", "size": 3})).names == ("I", "A", "A^2")


def test_modules_that_installed_packages_name_bring_parts(banks, plugins, monkeypatch):
    plugins("", installed_bank=bank_of("installed"))
    entry = EntryPoint(name="any", value="installed_bank", group=module.ENTRY_POINTS)
    monkeypatch.setattr(module, "entry_points", lambda group: [entry] if group == module.ENTRY_POINTS else [])
    assert "installed" in banks.names()


def test_an_unknown_module_of_parts_is_one_line(banks, plugins):
    plugins("no_such_module_of_parts")
    with pytest.raises(UserError, match="the module of parts 'no_such_module_of_parts' cannot be imported") as error:
        banks.names()
    assert "\n" not in str(error.value)
    with pytest.raises(UserError):  # and is so again, not only the first time
        banks.names()


def test_a_module_that_brings_a_name_that_is_taken_is_one_line(banks, plugins):
    plugins("taking_bank", taking_bank=bank_of("chebyshev"))
    with pytest.raises(
        UserError, match=r"two parts called 'chebyshev' for bank: in .*chebyshev and in taking_bank"
    ) as error:
        banks.names()
    assert "\n" not in str(error.value)


def test_a_field_holds_the_settings_of_one_part(shapes):
    class Drawing(Settings):
        shape: Annotated[ShapeSettings, OneOf(shapes)] = CircleSettings()

    assert Drawing.model_validate({"shape": {"shape": "square", "side": 3}}).shape == SquareSettings(side=3.0)
    assert Drawing.model_validate({"shape": {"radius": 3}}).shape == CircleSettings(radius=3.0)
    assert Drawing(shape=SquareSettings()).shape == SquareSettings()
    for wrong in ({"shape": "hexagon"}, {"shape": "square", "radius": 3}, {"shape": "square", "side": -1}, 3, None):
        with pytest.raises(ValidationError):
            Drawing.model_validate({"shape": wrong})


@pytest.mark.parametrize("group", KINDS)
def test_every_part_says_what_it_is_and_what_each_of_its_settings_means(group):
    kind = KINDS[group]
    for name in kind.names():
        part = kind[name]
        assert part.__doc__, part
        assert part.Settings.__doc__, part
        assert part.Settings.model_fields[kind.tag].default == name
        for field, info in part.Settings.model_fields.items():
            nested = isinstance(info.annotation, type) and issubclass(info.annotation, Settings)
            assert field == kind.tag or nested or info.description, f"{name}: {field}"
