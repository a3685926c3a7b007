"""The one exception for mistakes that a user can make and mend."""

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """A mistake in the input or the settings; its message is one line that says what to do.

    The command line prints the message alone and exits with code 2; a library user catches it as a ``ValueError``.
    """


class DamagedFileError(UserError):
    """A stored file that is not what was written; whoever can make it again does, and the others are told.

    Args:
        path: Of the file or folder.
        reason: What is wrong with it.
    """

    def __init__(self, path: object, reason: str = "its content is not what was written") -> None:
        super().__init__(f"{path} is damaged ({' '.join(reason.split())}); delete it, and it is made anew")


def nearest(name: str, valid: Iterable[str]) -> str:
    """Name the closest valid spelling, for the end of an error message.

    >>> nearest("chamelon", ["cora", "chameleon"])
    "did you mean 'chameleon'?"
    >>> nearest("xyz", ["cora", "pubmed"])
    'choose one of: cora, pubmed'
    """
    valid = sorted(valid)
    close = difflib.get_close_matches(name, valid, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose one of: {', '.join(valid)}"
