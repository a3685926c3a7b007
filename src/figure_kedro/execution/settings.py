"""Where the work of a run is done."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from figure_kedro.parts import Decides, Settings


class ExecutionSettings(Settings):
    """Where the tasks of a run are done; none of it changes a result."""

    backend: Annotated[Literal["this_process", "local", "ray"], Decides.NOTHING] = Field(
        "this_process", description="this process, processes of this machine, or a Ray cluster"
    )
    workers: Annotated[int, Decides.NOTHING] = Field(1, ge=1, le=65_536, description="tasks at a time")
    address: Annotated[str | None, Decides.NOTHING] = Field(
        None, description="of the Ray cluster, such as ray-head:6379 or auto; null starts one on this machine"
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.backend == "this_process" and self.workers > 1:
            raise ValueError(f"execution.workers={self.workers} needs other processes; choose execution.backend=local")
        if self.backend != "ray" and self.address is not None:
            raise ValueError("execution.address is of a Ray cluster; choose execution.backend=ray, or leave it out")
        return self
