"""A progress bar for the training loop, through the console that log lines go to as well."""

import rich
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from figure_kedro.training.loop import TrainingRecord
from figure_kedro.training.settings import TrainingSettings


class ProgressBar:
    """Shows epochs, the loss, how long it has not fallen, and the time left at the most.

    Args:
        settings: For the largest number of epochs and the patience.
        title: What is being trained.
    """

    def __init__(self, settings: TrainingSettings, title: str) -> None:
        self._settings = settings
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("epoch {task.completed}  loss {task.fields[loss]:.4f}  (lowest {task.fields[waited]} ago)"),
            TimeElapsedColumn(),
            TextColumn("at most"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=rich.get_console(),
            transient=True,
        )
        self._task = self._progress.add_task(title, total=settings.max_epochs, loss=float("nan"), waited=0)

    def on_epoch(self, record: TrainingRecord) -> None:
        self._progress.start()  # not before: training that fails before its first epoch leaves no bar behind
        self._progress.update(self._task, completed=record.epochs, loss=record.losses[-1], waited=record.waited)

    def close(self) -> None:
        self._progress.stop()
