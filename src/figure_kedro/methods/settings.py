"""What a representation is learnt by."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from figure_kedro.errors import UserError
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


class MvgrlSettings(BaseModel):
    """MVGRL: the diffusion of its second view."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    teleport: float = Field(0.2, gt=0, lt=1, description="probability that personalised PageRank returns to its node")
    order: int = Field(8, ge=1, le=64, description="sparse products for the diffusion; a directed graph takes more")


class GraceSettings(BaseModel):
    """GRACE: the two corruptions and the contrast between them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    drop_edges_1: float = Field(0.2, ge=0, lt=1, description="share of edges left out of the first view")
    drop_edges_2: float = Field(0.4, ge=0, lt=1, description="share of edges left out of the second view")
    drop_features_1: float = Field(0.3, ge=0, lt=1, description="share of feature columns left out of the first view")
    drop_features_2: float = Field(0.4, ge=0, lt=1, description="share of feature columns left out of the second view")
    temperature: float = Field(0.4, ge=0.05, description="of the similarities")
    projector: int = Field(128, ge=1, description="width of the network between embeddings and contrast")
    nodes: int = Field(
        4096, ge=0, description="nodes that an epoch contrasts, drawn anew each time; 0 is all of them, as in its paper"
    )
    block_rows: int = Field(512, ge=1, description="rows and columns of similarities held at a time, best in the cache")


class SugrlSettings(BaseModel):
    """SUGRL: what positives and negatives are, and the margins between them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hidden_layers: int = Field(0, ge=0, le=3, description="layers of the network before its last one")
    dropout: float = Field(0.2, ge=0, lt=1, description="of the features")
    neighbours: int = Field(5, ge=1, description="neighbours drawn for a node's second positive")
    negatives: int = Field(5, ge=1, description="permutations an epoch")
    margin: float = Field(0.8, ge=0, description="how much farther a negative must be than a positive")
    bound: float = Field(0.2, ge=0, description="how much farther than that it may be")
    weight_structure: float = Field(5.0, ge=0, description="of the loss with structural positives")
    weight_neighbours: float = Field(5.0, ge=0, description="of the loss with neighbour positives")


class WalkSettings(BaseModel):
    """DeepWalk and Node2Vec: walks and the skip-gram model on them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    length: int = Field(10, ge=2, description="nodes of a walk, the first one included")
    per_node: int = Field(2, ge=1, description="walks from each node an epoch")
    window: int = Field(5, ge=1, description="nodes before and after that count as context")
    negatives: int = Field(5, ge=1, description="negative samples a positive pair")
    p: float = Field(1.0, gt=0, description="Node2Vec's return parameter: small values turn back often")
    q: float = Field(1.0, gt=0, description="Node2Vec's in-out parameter: large values stay near")
    batch: int = Field(1024, ge=1, description="walks a step")


class RepresentationSettings(BaseModel):
    """The method, its size and its training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Literal[
        "figure", "untrained", "propagation", "features", "dgi", "mvgrl", "grace", "sugrl", "deepwalk", "node2vec"
    ] = Field(
        "figure",
        description="figure, or a method it is compared with; untrained: its encoder as it is drawn; propagation: "
        "filtered features; features: those of the graph as they are",
    )
    dim: int = Field(512, ge=1, description="dimension of the embeddings; the paper uses 512, 128 and 32")
    encoder: EncoderSettings = EncoderSettings()
    strategy: Literal["auto", "full", "sampled", "decoupled"] = Field(
        "auto", description="auto: the whole graph a step where it fits into memory, else decoupled"
    )
    sampled: SampledSettings = SampledSettings()
    decoupled: DecoupledSettings = DecoupledSettings()
    mvgrl: MvgrlSettings = MvgrlSettings()
    grace: GraceSettings = GraceSettings()
    sugrl: SugrlSettings = SugrlSettings()
    walks: WalkSettings = WalkSettings()
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
        if self.method == "deepwalk" and (self.walks.p, self.walks.q) != (1.0, 1.0):
            raise ValueError("deepwalk has neither p nor q; set representation.method to node2vec, or both to 1")
        if self.tuning.enabled and self.method in ("untrained", "propagation", "features"):
            raise ValueError(f"{self.method} trains nothing, so there is nothing to tune")
        for path in self.tuning.space:
            self.at(path)
        return self

    def at(self, path: str) -> Any:
        """The value at a path such as ``training.learning_rate``."""
        value: Any = self
        for part in path.split("."):
            if part not in getattr(type(value), "model_fields", {}):
                raise ValueError(f"tuning.space: there is no setting {path!r} to search")
            value = getattr(value, part)
        return value

    def changed(self, values: Mapping[str, Any]) -> "RepresentationSettings":
        """The same settings with other values at some paths, checked.

        Raises:
            UserError: For a value out of its range.
        """
        settings = self.model_dump()
        for path, value in values.items():
            *groups, name = path.split(".")
            group = settings
            for part in groups:
                group = group[part]
            group[name] = value
        try:
            return RepresentationSettings(**settings)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = ".".join(map(str, first["loc"]))
            raise UserError(f"representation.tuning.space: {path} cannot be {first['input']}: {first['msg']}") from None
