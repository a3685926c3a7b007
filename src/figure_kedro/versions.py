"""The version of whatever is stored, and of the code that makes it."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from figure_kedro.errors import UserError


class OldFormatError(UserError):
    """Something stored that an older version of this program wrote and this one does not read."""


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
    kind = OldFormatError if old else UserError
    raise kind(f"{what} has format {version!r}, and this program reads {oldest} to {newest}; {remedy}")


@cache
def commit_of_code() -> str:
    """The last commit that changed this package, in short; empty if it is not under version control."""
    command = ["git", "log", "-1", "--format=%h", "--", "."]
    try:
        answer = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
