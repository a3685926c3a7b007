"""How long and how a method is trained."""

from pydantic import BaseModel, ConfigDict, Field


class TrainingSettings(BaseModel):
    """The optimiser, the early stop and the machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    learning_rate: float = Field(1e-3, gt=0, description="of Adam; the paper searches 1e-5 to 1e-1")
    max_epochs: int = Field(30_000, ge=1, description="at most so many epochs")
    patience: int = Field(20, ge=1, description="stop after so many epochs without a lower training loss")
    seed: int = Field(0, ge=0, le=2**32 - 1, description="of the weights, the corruptions and the samples")
    device: str = Field(
        "auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$", description="auto: CUDA, then MPS (decoupled), then CPU"
    )
    threads: int = Field(0, ge=0, description="of the CPU; 0 takes all cores that this process may use")
    checkpoint_seconds: float = Field(60.0, gt=0, description="time between two checkpoints")
