"""Parameters of estimators: kept as they were given, and filled in when they are read."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from figure_kedro.errors import UserError
from figure_kedro.parts.kind import Kind


class Given:
    """An attribute that is stored as it was given, as scikit-learn asks for, and read with what was left out.

    What was given is in ``vars`` of the object.

    Args:
        fill_in: Gives the value that is used.
        built: The name of what is built from the value, and built anew after a change.
    """

    def __init__(self, fill_in: Callable[[Any], Any], built: str) -> None:
        self._fill_in, self._built = fill_in, built

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self._fill_in(instance)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value
        instance.__dict__.pop(self._built, None)


def parsed(given: Any, kind: Kind[Any]) -> Any:
    """Settings of a part: themselves, or from a dictionary of plain ones, or the default ones."""
    if given is not None and not isinstance(given, Mapping):
        return given
    try:
        return kind.parse(given or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"{kind.what}, {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
