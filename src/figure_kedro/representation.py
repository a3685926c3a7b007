"""Which class learns a representation: the methods by the name that the settings use."""

from typing import Any

import torch

from figure_kedro.estimator import FiGURe
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.propagation import Propagation

METHODS = {"figure": FiGURe, "untrained": FiGURe, "propagation": Propagation}

Representation = FiGURe | Propagation
State = tuple[dict[str, torch.Tensor], dict[str, Any]]


def build_representation(filters: FilterSettings, settings: RepresentationSettings) -> Representation:
    """The method that the settings name, not yet fitted."""
    return METHODS[settings.method](filters=filters, settings=settings)


def restore_representation(state: State) -> Representation:
    """A fitted method from its state."""
    weights, description = state
    return METHODS[description["representation"]["method"]].from_state(weights, description)
