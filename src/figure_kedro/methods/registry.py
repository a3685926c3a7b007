"""The methods by the name that the settings use."""

from figure_kedro.filters.settings import FilterSettings
from figure_kedro.methods.deepwalk import DeepWalk
from figure_kedro.methods.dgi import Dgi
from figure_kedro.methods.figure import Figure
from figure_kedro.methods.grace import Grace
from figure_kedro.methods.method import Method
from figure_kedro.methods.mvgrl import Mvgrl
from figure_kedro.methods.node2vec import Node2Vec
from figure_kedro.methods.propagation import Features, Propagation
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.methods.sugrl import Sugrl

METHODS: dict[str, type[Method]] = {
    "figure": Figure,
    "untrained": Figure,
    "propagation": Propagation,
    "features": Features,
    "dgi": Dgi,
    "mvgrl": Mvgrl,
    "grace": Grace,
    "sugrl": Sugrl,
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
}


def build_method(settings: RepresentationSettings, filters: FilterSettings) -> Method:
    """The method that the settings name."""
    return METHODS[settings.method](settings, filters.build())
