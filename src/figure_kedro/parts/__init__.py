"""What parts of every kind have in common: a name, settings that say what they decide, and one rule of registration."""

from figure_kedro.parts.kind import Kind, OneOf, Part
from figure_kedro.parts.lists import LISTED, LISTED_NUMBERS
from figure_kedro.parts.settings import Decides, Settings, decisive, flatten

__all__ = ["LISTED", "LISTED_NUMBERS", "Decides", "Kind", "OneOf", "Part", "Settings", "decisive", "flatten"]
