"""Whether and how long settings are searched."""

from pydantic import BaseModel, ConfigDict, Field


class TuningSettings(BaseModel):
    """A search over the paper's ranges; off by default, because each data set's file carries a known good setting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(False, description="whether to search before training")
    trials: int = Field(20, ge=1, description="how many settings are tried")
    seed: int = Field(0, ge=0, description="of the sampler")
