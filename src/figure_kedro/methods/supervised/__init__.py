"""Models that are trained on labels end to end, one file each; embeddings are compared with them."""

from torch import nn

from figure_kedro.methods.supervised.gcn import GCN
from figure_kedro.methods.supervised.gprgnn import GPRGNN
from figure_kedro.methods.supervised.h2gcn import H2GCN
from figure_kedro.methods.supervised.inputs import GraphInputs

MODELS: dict[str, type[nn.Module]] = {"gcn": GCN, "gprgnn": GPRGNN, "h2gcn": H2GCN}

__all__ = ["GCN", "GPRGNN", "H2GCN", "MODELS", "GraphInputs"]
