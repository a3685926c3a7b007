"""How embeddings are judged."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from figure_kedro.evaluation.supervised_settings import SupervisedSettings


class EvaluationSettings(BaseModel):
    """The classifier's solver and the search over its settings, the same for every method that is compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    solver: Literal["lbfgs", "adam"] = Field("lbfgs", description="lbfgs is quick and deterministic; adam the paper's")
    trials: int = Field(30, ge=1, description="settings tried on each split; the paper tries 60")
    max_epochs: int | None = Field(None, ge=1, description="of a fit; default 200 for lbfgs, 10,000 for adam")
    masks: bool = Field(True, description="whether filters may be left out")
    gammas: tuple[float, ...] = Field(
        tuple(round(0.1 * i, 1) for i in range(1, 13)), min_length=1, description="tried with Fourier features"
    )
    splits: int = Field(0, ge=0, description="how many of the splits are evaluated; 0 is all of them")
    seed: int = Field(0, ge=0, description="of the search and of the initial weights")
    supervised: Literal["none", "gcn", "gprgnn", "h2gcn"] = Field(
        "none", description="a network trained on the labels end to end, in place of embeddings and a classifier"
    )
    end_to_end: SupervisedSettings = SupervisedSettings()
