"""Whether and how long settings are searched."""

from pydantic import BaseModel, ConfigDict, Field


class TuningSettings(BaseModel):
    """A search for the lowest training loss; off by default, because the configuration carries known good settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(False, description="whether to search before training")
    trials: int = Field(20, ge=1, description="how many settings are tried")
    space: dict[str, tuple[float | int | str, ...]] = Field(
        {}, description="the values that each setting below representation may take, such as training.learning_rate"
    )
    seed: int = Field(0, ge=0, description="of the sampler")
