"""How models that are trained on labels end to end are trained and tuned."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from figure_kedro.errors import nearest

Value = int | float


class Choice(BaseModel):
    """One choice of what may vary; gives each setting its range."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    learning_rate: float = Field(0.01, gt=0, description="Adam's")
    weight_decay: float = Field(5e-4, ge=0, description="Adam's, on all weights but GPRGNN's coefficients")
    dropout: float = Field(0.5, ge=0, lt=1, description="share of the hidden entries that are dropped")
    hidden: int = Field(64, ge=1, description="width of the hidden layer")


class GprgnnChoice(Choice):
    """GPRGNN has more to choose."""

    propagation_dropout: float = Field(0.5, ge=0, lt=1, description="share of entries dropped before the filter")
    alpha: float = Field(0.1, gt=0, lt=1, description="the coefficients start as personalised PageRank's with it")
    steps: int = Field(10, ge=1, description="the highest power of the adjacency")


CHOICES: dict[str, type[Choice]] = {"gcn": Choice, "gprgnn": GprgnnChoice, "h2gcn": Choice}
"""What each model may vary."""

_COMMON: dict[str, tuple[Value, ...]] = {
    "learning_rate": (0.01, 0.05, 0.002),
    "weight_decay": (5e-4, 0.0, 5e-5, 5e-3),
    "dropout": (0.5, 0.0, 0.7),
    "hidden": (64,),
}
SPACES: dict[str, dict[str, tuple[Value, ...]]] = {
    "gcn": _COMMON,
    "gprgnn": _COMMON | {"propagation_dropout": (0.5, 0.0), "alpha": (0.1, 0.5, 0.9)},
    "h2gcn": _COMMON,
}
"""The ranges of the models' papers, thinned out; the first value of each setting makes the first trial."""


class SupervisedSettings(BaseModel):
    """Training, and the search over its settings. Trials and seed are those of the evaluation, for all methods."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_epochs: int = Field(500, ge=1, description="upper limit of epochs of a training")
    patience: int = Field(50, ge=1, description="epochs without a better validation score before a training ends")
    spaces: dict[str, dict[str, tuple[Value, ...]]] = Field(
        SPACES,
        description="values to try for each setting of a model, the most sensible first; a model left out has "
        "its published ones",
    )

    def space(self, model: str) -> dict[str, list[Value]]:
        """What varies in a search for this model."""
        return {name: list(values) for name, values in self.spaces.get(model, SPACES[model]).items()}

    @field_validator("spaces")
    @classmethod
    def _known_settings_in_their_ranges(
        cls, spaces: dict[str, dict[str, tuple[Value, ...]]]
    ) -> dict[str, dict[str, tuple[Value, ...]]]:
        for model, space in spaces.items():
            if model not in CHOICES:
                raise ValueError(f"there is no supervised model {model!r}; {nearest(model, CHOICES)}")
            for name, values in space.items():
                if name not in CHOICES[model].model_fields:
                    raise ValueError(f"{model} has no setting {name!r}; {nearest(name, CHOICES[model].model_fields)}")
                if not values:
                    raise ValueError(f"{name} of {model} has no value to try; give at least one")
                for value in values:
                    CHOICES[model](**{name: value})
        return spaces
