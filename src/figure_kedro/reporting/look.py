"""How pictures look: colours that everybody can tell apart, and text that can be read in print."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

import matplotlib

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000", "#F0E442")
"""Eight colours that people with any colour vision can tell apart, those best seen on white first."""

MARKERS = "o^sDvPX*"
"""Shapes that tell classes apart once there are more of them than colours."""

GREY = "0.75"

readable = matplotlib.rc_context(
    {
        "font.size": 11,
        "axes.titlesize": 11,
        "axes.labelsize": 11,
        "xtick.labelsize": 10,
        "ytick.labelsize": 10,
        "legend.fontsize": 10,
        "legend.title_fontsize": 10,
        "figure.titlesize": 12,
        "mathtext.fontset": "dejavusans",
    }
)
"""Draws with sizes that stay readable when a picture is as wide as a page; a decorator."""


def classes_apart(count: int) -> Iterator[tuple[str, str]]:
    """A colour and a marker for each of some classes: a colour each for up to eight, and then other shapes too.

    >>> list(classes_apart(9))[-1]
    ('#0072B2', '^')
    """
    pairs = product(MARKERS, OKABE_ITO)
    for _ in range(count):
        marker, colour = next(pairs, (".", GREY))
        yield colour, marker


LONGEST_NAME = 60  # of a class


def plain(texts: Sequence[object]) -> list[str]:
    """Texts of users as they are, cut where they are long.

    A dollar sign would begin mathtext, and matplotlib leaves out of a legend what begins with an underscore.
    """
    return [re.sub(r"^_", " _", str(text)[:LONGEST_NAME]).replace("$", r"\$") for text in texts]
