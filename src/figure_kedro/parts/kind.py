"""One rule for parts of every kind: a file that brings a name and a settings class, and nothing else to edit."""

import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from figure_kedro.errors import UserError, nearest
from figure_kedro.parts.settings import Settings as AnySettings
from figure_kedro.parts.settings import without_foreign

ENTRY_POINTS = "figure_kedro.parts"
"""The group of entry points under which an installed package names its modules of parts."""

MODULES = "FIGURE_PARTS"
"""The environment variable that names further modules of parts, separated by commas."""


class Part:
    """A part that is built from its settings.

    Attributes:
        Settings: Its settings; the default of the field that chooses a part (``bank``, ``method``, ...) is its name. A
            part without settings has an attribute ``name`` instead.
        version: Raised by one whenever the part gives other results for equal settings, so that results of both are
            told apart.
    """

    Settings: ClassVar[type[AnySettings]]
    version: ClassVar[int] = 1

    @classmethod
    def from_settings(cls, settings: Any) -> Self:
        """Build the part; its constructor takes the settings unless it says otherwise."""
        return cls(settings)  # type: ignore[call-arg]


P = TypeVar("P", bound=Part)


class Kind(Generic[P]):
    """All parts of one kind, by name.

    A part registers itself where it is defined::

        @BANKS.register
        class Chebyshev(FilterBank):
            Settings = ChebyshevSettings

    Parts are found in a folder of this package, in modules that installed packages name as entry points of the group
    ``figure_kedro.parts``, and in modules that the environment variable ``FIGURE_PARTS`` names. The union of settings,
    the choices in an error message and the lists in the documentation all come from here.

    Args:
        what: What a part of this kind is called in messages.
        tag: The field of its settings that chooses the part.
        package: Where our own parts are.
        default: The name of the part that is taken if the settings choose none.
    """

    def __init__(self, what: str, *, tag: str, package: str, default: str | None = None) -> None:
        self.what, self.tag, self.default = what, tag, default
        self._package = package
        self._parts: dict[str, type[P]] = {}

    def register(self, part: type[P]) -> type[P]:
        """Make a part known under the name that its settings have; a decorator."""
        name = getattr(part, "name", None) or part.Settings.model_fields[self.tag].default
        known = self._parts.setdefault(name, part)
        if (known.__module__, known.__qualname__) != (part.__module__, part.__qualname__):
            raise UserError(
                f"there are two parts called {name!r} for {self.tag}: in {known.__module__} and in {part.__module__}"
            )
        self._parts[name] = part
        return part

    def names(self) -> tuple[str, ...]:
        """The parts that there are, in alphabetical order."""
        import_parts(self._package)
        import_plugins()
        return tuple(sorted(self._parts))

    def __getitem__(self, name: str) -> type[P]:
        if name not in self.names():
            raise UserError(f"there is no {self.what} {name!r}; {nearest(name, self.names())}")
        return self._parts[name]

    def chosen(self, raw: Mapping[str, Any]) -> type[P]:
        """The part that plain settings choose."""
        return self[str(raw.get(self.tag, self.default))]

    def only_chosen(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Plain settings without those that only other parts of this kind have."""
        return without_foreign(raw, self.chosen(raw).Settings, [self[name].Settings for name in self.names()])

    def parse(self, raw: Mapping[str, Any]) -> Any:
        """Check plain settings; those of the part that they choose come back."""
        return self.chosen(raw).Settings.model_validate(raw)

    def part(self, settings: AnySettings) -> type[P]:
        """The part that has these settings."""
        return self[getattr(settings, self.tag)]

    def build(self, settings: AnySettings) -> P:
        """Build the part that has these settings."""
        return self.part(settings).from_settings(settings)


class OneOf:
    """Marks a field of settings that holds the settings of one part: ``Annotated[BankSettings, OneOf(BANKS)]``."""

    def __init__(self, kind: Kind[Any]) -> None:
        self.kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(self.kind[name].Settings) for name in self.kind.names()}
        return core_schema.tagged_union_schema(choices, discriminator=self._tag)

    def _tag(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return value.get(self.kind.tag, self.kind.default)
        return getattr(value, self.kind.tag, None)


@cache
def import_parts(package: str) -> None:
    """Import every module of a package of parts, which registers them."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")


@cache
def import_plugins() -> None:
    """Import the modules of parts that others bring."""
    named = [name.strip() for name in os.environ.get(MODULES, "").split(",") if name.strip()]
    for name in [*(entry.value for entry in entry_points(group=ENTRY_POINTS)), *named]:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UserError(f"the module of parts {name!r} cannot be imported: {error}") from error
