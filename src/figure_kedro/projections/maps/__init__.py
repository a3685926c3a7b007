"""One file a map: its name is the map's name in the settings."""

import importlib
import pkgutil

from figure_kedro.errors import UserError, nearest
from figure_kedro.projections.feature_map import FeatureMap


def projection_names() -> tuple[str, ...]:
    """The maps that exist, one for each file in this folder."""
    return tuple(module.name for module in pkgutil.iter_modules(__path__))


def map_class(name: str) -> type[FeatureMap]:
    """The class of the map of that name."""
    if name not in projection_names():
        raise UserError(f"there is no projection {name!r}; {nearest(name, projection_names())}")
    return importlib.import_module(f"{__name__}.{name}").Map
