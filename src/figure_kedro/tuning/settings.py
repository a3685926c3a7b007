"""Whether and how long settings are searched."""

from typing import Annotated

from pydantic import Field

from figure_kedro.parts import LISTED_NUMBERS, Settings


class TuningSettings(Settings):
    """A search for the lowest training loss; off by default, because the configuration carries known good settings."""

    enabled: bool = Field(False, description="whether to search before training")
    trials: int = Field(20, ge=1, description="how many settings are tried")
    space: dict[str, Annotated[tuple[float | int | str, ...], LISTED_NUMBERS]] = Field(
        {}, description="the values that settings may take, such as training.learning_rate; default: the method's own"
    )
    seed: int = Field(0, ge=0, description="of the sampler")
