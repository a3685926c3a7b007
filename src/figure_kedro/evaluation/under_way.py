"""What several processes that evaluate splits leave on disk for each other, and for a run that goes on after a kill."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from optuna.storages import BaseStorage

from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.files.trial_journal import TrialStorage
from figure_kedro.evaluation.head import Fitted
from figure_kedro.evaluation.selection import SplitResult, Tried
from figure_kedro.tuning.study import take_up


@dataclass(frozen=True)
class UnderWay:
    """The files of one evaluation that is not finished: they go by path, and are removed at its end.

    A file is written by one process at a time, whole or, the journals, line by line.

    Args:
        folder: Beside the journal of the evaluation.
        learnt_from: Of the work; what is left of other work is not looked at.
    """

    folder: Path
    learnt_from: str

    @classmethod
    def beside(cls, journal: Path, learnt_from: str) -> "UnderWay":
        return cls(journal.with_name("evaluation_under_way"), learnt_from)

    def _path(self, name: str) -> Path:
        return self.folder / self.learnt_from / name

    def journal(self, split: int) -> TrialStorage:
        """The trials of one split while it is evaluated."""
        return TrialStorage(self._path(f"split_{split}.journal"))

    def take_up_journals(self, storage: BaseStorage) -> None:
        """Put all trials of splits into the journal of the evaluation."""
        for path in sorted(self.folder.glob(f"{self.learnt_from}/split_*.journal")):
            take_up(storage, TrialStorage(path))

    def tell(self, split: int, ended: int) -> None:
        """Say how many fits of a split have ended."""
        path = self._path(f"split_{split}.ended")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(ended))

    def told(self, split: int) -> int:
        """How many fits have ended, as far as is known."""
        try:
            return int(self._path(f"split_{split}.ended").read_text())
        except (OSError, ValueError):  # not begun, or just being written
            return 0

    def keep_result(self, split: int, result: SplitResult) -> None:
        description = {name: value for name, value in asdict(result).items() if name != "predictions"}
        self._file(f"split_{split}").save({"predictions": torch.from_numpy(result.predictions)}, description)

    def result(self, split: int) -> SplitResult | None:
        """What came out of a split, if it is there."""
        if (found := self._file(f"split_{split}").load()) is None:
            return None
        return SplitResult(predictions=found[0]["predictions"].numpy(), **found[1])

    def keep_fit(self, split: int, number: int, choice: dict[str, Any], tried: Tried) -> None:
        fitted = asdict(tried.fitted)
        arrays = {name: torch.from_numpy(np.asarray(fitted.pop(name))) for name in ("probabilities", "classes")}
        self._file(f"split_{split}.fit_{number}").save(arrays, {"choice": choice, "told": tried.told, **fitted})

    def fit(self, split: int, number: int, choice: dict[str, Any]) -> Tried | None:
        """What came of one of the first fits of a split, if it is there."""
        if (found := self._file(f"split_{split}.fit_{number}").load()) is None:
            return None
        arrays, description = found
        if description.pop("choice") != choice:  # of a version of Optuna that draws otherwise
            return None
        told = tuple((step, value) for step, value in description.pop("told"))
        return Tried(Fitted(arrays["probabilities"].numpy(), arrays["classes"].numpy(), **description), told)

    def fits_of(self, split: int, settings: list[dict[str, Any]]) -> Callable[[dict[str, Any]], Tried | None]:
        """Looks up what came of the first fits of a split by their settings."""

        def tried(choice: dict[str, Any]) -> Tried | None:
            return self.fit(split, settings.index(choice), choice) if choice in settings else None

        return tried

    def _file(self, name: str) -> CheckpointFile:
        return CheckpointFile(self._path(f"{name}.safetensors"))

    def clear(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)
