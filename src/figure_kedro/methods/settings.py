"""What a representation is learnt by."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from figure_kedro.training.settings import TrainingSettings
from figure_kedro.tuning.settings import TuningSettings


class EncoderSettings(BaseModel):
    """The encoder; the paper's main results use one layer, shared by all filters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gcn_layers: int = Field(1, ge=1, le=3, description="how often a filter is applied, each time with a layer")
    mlp_layers: int = Field(1, ge=1, le=3, description="layers of the feature transformation before the filter")
    shared: bool = Field(True, description="one encoder for all filters, or one for each")


class SampledSettings(BaseModel):
    """The paper's protocol: every step sees a few nodes and the filters induced on them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(2000, ge=2, description="nodes a sample; the paper searches 1500 to 2250, 5000 on arXiv")
    batch: int = Field(2, ge=1, description="samples a step")
    nodes: Literal["windows", "random"] = Field("windows", description="contiguous node numbers, or any")


class DecoupledSettings(BaseModel):
    """Training on stored propagated rows, for graphs larger than memory."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    batch_rows: int = Field(65_536, ge=2, description="rows a step")
    corruptions: int = Field(4, ge=0, description="stored corruptions, used in turn; 0 draws a fresh one every epoch")
    columns: int = Field(32, ge=1, description="feature columns propagated at a time")


class RepresentationSettings(BaseModel):
    """The method, its size and its training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Literal["figure", "untrained", "propagation"] = Field(
        "figure", description="figure; untrained: its encoder as it is drawn; propagation: filtered features alone"
    )
    dim: int = Field(512, ge=1, description="dimension of the embeddings; the paper uses 512, 128 and 32")
    encoder: EncoderSettings = EncoderSettings()
    strategy: Literal["auto", "full", "sampled", "decoupled"] = Field(
        "auto", description="auto: the whole graph a step where it fits into memory, else decoupled"
    )
    sampled: SampledSettings = SampledSettings()
    decoupled: DecoupledSettings = DecoupledSettings()
    training: TrainingSettings = TrainingSettings()
    embeddings: Literal["auto", "always", "never"] = Field(
        "auto", description="whether embeddings are stored; auto: up to 100 million numbers"
    )
    tuning: TuningSettings = TuningSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> "RepresentationSettings":
        one_layer = self.encoder == EncoderSettings()
        if self.strategy == "decoupled" and not one_layer:
            raise ValueError("the decoupled strategy needs one shared encoder of one layer; choose full or sampled")
        if self.tuning.enabled and self.method in ("untrained", "propagation"):
            raise ValueError(f"{self.method} trains nothing, so there is nothing to tune")
        return self
