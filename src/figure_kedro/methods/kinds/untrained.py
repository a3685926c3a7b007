"""FiGURe's encoder as it is drawn: a row that every table needs beside the trained ones."""

from typing import Literal

import torch
from pydantic import Field

from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.encoder import EncoderSettings, FigureModel
from figure_kedro.methods.kinds.figure import Figure
from figure_kedro.methods.method import METHODS, Allocate, MethodSettings
from figure_kedro.training.settings import DrawnSettings


class UntrainedSettings(MethodSettings):
    """The encoder and its seed."""

    method: Literal["untrained"] = "untrained"
    dim: int = Field(512, ge=1, description="dimension of the embeddings; the paper uses 512, 128 and 32")
    encoder: EncoderSettings = EncoderSettings()
    training: DrawnSettings = DrawnSettings()


@METHODS.register
class Untrained(Figure):
    """:class:`~figure_kedro.methods.kinds.figure.Figure` without its training."""

    Settings = UntrainedSettings  # type: ignore[assignment]
    chance_loss = None  # type: ignore[assignment]

    def objective(
        self, model: FigureModel, graph: Graph, operator: Operator, device: torch.device, allocate: Allocate | None
    ) -> None:
        return None
