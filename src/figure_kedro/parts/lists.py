"""Lists on a command line, whose parameters are separated by commas: ``a+b`` stands for ``[a, b]``."""

from typing import Any

from pydantic import BeforeValidator


def listed(value: Any) -> Any:
    """A list of one, or of what stands between plus signs; a list from a file or from Python stays as it is.

    >>> listed("split_0+split_1"), listed(0.5), listed(["C++"]), listed("C++")
    (('split_0', 'split_1'), (0.5,), ['C++'], ('C++',))
    """
    if isinstance(value, str):
        parts = value.split("+")
        return tuple(parts) if all(parts) else (value,)
    return (value,) if isinstance(value, int | float) else value


def listed_numbers(value: Any) -> Any:
    """The same for lists that may hold numbers: what reads as a number is one.

    >>> listed_numbers("16+1e-3+none")
    (16, 0.001, 'none')
    """
    several = listed(value)
    return tuple(map(_as_number, several)) if isinstance(value, str) else several


def _as_number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


LISTED = BeforeValidator(listed)
"""Marks a field that holds a list: ``Annotated[tuple[str, ...], LISTED]``."""

LISTED_NUMBERS = BeforeValidator(listed_numbers)
"""Marks a field whose list may hold numbers of either type beside words."""
