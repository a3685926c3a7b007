"""What of a run is kept in MLflow."""

from typing import Annotated

from pydantic import Field

from figure_kedro.parts import Decides, Settings


class TrackingSettings(Settings):
    """What MLflow keeps beside parameters and numbers; none of it changes a result."""

    artefact_mb: Annotated[float, Decides.NOTHING] = Field(
        20.0, ge=0, description="files up to this size are copied to MLflow; of larger ones it is told the path"
    )
    system_metrics: Annotated[bool, Decides.NOTHING] = Field(
        False, description="whether MLflow records memory, processor and disk while the run goes on"
    )
