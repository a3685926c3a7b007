"""The version of whatever is stored."""

from typing import Any

from figure_kedro.errors import UserError


def check_format(found: Any, newest: int, what: str, oldest: int = 1) -> int:
    """The version of something stored, which is 1 if it does not say.

    Raises:
        UserError: If this program cannot read it.
    """
    version = 1 if found is None else found
    if isinstance(version, int) and oldest <= version <= newest:
        return version
    old = isinstance(version, int) and version < oldest
    remedy = "delete it, and it is made anew" if old else "use a newer version of figure_kedro"
    raise UserError(f"{what} has format {version!r}, and this program reads {oldest} to {newest}; {remedy}")
