"""One file a bank: its name is the bank's name in the settings."""

import importlib
import pkgutil

from figure_kedro.errors import UserError, nearest
from figure_kedro.filters.bank import FilterBank


def bank_names() -> tuple[str, ...]:
    """The banks that exist, one for each file in this folder."""
    return tuple(module.name for module in pkgutil.iter_modules(__path__))


def build_bank(name: str, size: int) -> FilterBank:
    """Build the bank of that name with ``size`` filters."""
    if name not in bank_names():
        raise UserError(f"there is no filter bank {name!r}; {nearest(name, bank_names())}")
    return importlib.import_module(f"{__name__}.{name}").Bank(size)
