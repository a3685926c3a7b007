"""How long, how and on what machine a method is trained."""

from typing import Annotated

from pydantic import Field

from figure_kedro.parts import Decides, Settings


class MachineSettings(Settings):
    """Where a method computes."""

    device: Annotated[str, Decides.NOTHING] = Field(
        "auto", pattern=r"^(auto|cpu|mps|cuda(:\d{1,4})?)$", description="auto: CUDA, then MPS (decoupled), then CPU"
    )
    threads: Annotated[int, Decides.NOTHING] = Field(
        0, ge=0, le=4096, description="of the CPU; 0: OMP_NUM_THREADS, or as many as the machine has free"
    )


class DrawnSettings(MachineSettings):
    """What a method has beside that whose weights are drawn."""

    seed: int = Field(0, ge=0, le=2**32 - 1, description="of the weights, the corruptions and the samples")


class TrainingSettings(DrawnSettings):
    """What a method has beside that whose weights are trained."""

    learning_rate: float = Field(1e-3, gt=0, description="of Adam; the paper searches 1e-5 to 1e-1")
    max_epochs: int = Field(30_000, ge=1, description="at most so many epochs")
    patience: int = Field(20, ge=1, description="stop after so many epochs without a lower training loss")
    checkpoint_seconds: Annotated[float, Decides.NOTHING] = Field(
        60.0, gt=0, description="time between two checkpoints"
    )
