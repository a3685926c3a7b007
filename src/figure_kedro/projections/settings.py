"""Which random feature map the embeddings go through, and how they are scaled before it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from figure_kedro.errors import UserError, nearest
from figure_kedro.projections.maps import projection_names


class ProjectionSettings(BaseModel):
    """The settings of a projection; a field that the chosen map does not use changes nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    map: str = Field("identity", description="name of a file in figure_kedro/projections/maps")
    dim: int = Field(512, ge=1, description="number of random features D; the identity keeps the width of its input")
    gamma: float = Field(0.5, gt=0, description="fourier: inverse width of the kernel exp(-gamma^2 |x - y|^2 / 2)")
    kernel: Literal["polynomial", "exponential"] = Field(
        "polynomial", description="maclaurin: (x.y + 1)^degree or exp(x.y / sigma^2)"
    )
    degree: int = Field(2, ge=1, le=20, description="maclaurin (polynomial) and anova: degree of the kernel")
    sigma: float = Field(1.0, gt=0, description="maclaurin (exponential): width of the kernel")
    seed: int = Field(0, ge=0, description="seed of the map; every filter goes through the same one")
    scale: Literal["none", "rms", "standard"] = Field(
        "none", description="scaling before the map, one for all filters together; none is the paper's behaviour"
    )
    norm: float = Field(
        4.0, gt=0, description="typical length of a scaled row; 4 suits the paper's gammas, 1 a polynomial kernel"
    )

    @field_validator("map")
    @classmethod
    def _exists(cls, name: str) -> str:
        if name not in projection_names():
            raise UserError(f"there is no projection {name!r}; {nearest(name, projection_names())}")
        return name
