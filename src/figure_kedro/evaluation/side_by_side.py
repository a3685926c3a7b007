"""The splits of one evaluation, one after the other in this process, or side by side as tasks of an executor."""

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

from optuna.storages import BaseStorage

from figure_kedro.cost import PROCESS_BYTES
from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.datasets.files.trial_journal import TrialStorage
from figure_kedro.errors import UserError
from figure_kedro.evaluation.selection import SplitResult
from figure_kedro.evaluation.split_work import SplitWork
from figure_kedro.evaluation.under_way import UnderWay
from figure_kedro.execution import Executor, Lost, Task
from figure_kedro.execution.shared_folder import sendable
from figure_kedro.memory import Memory, memory, use_memory
from figure_kedro.training.threads import threads
from figure_kedro.tuning.study import take_up

LOOK_SECONDS = 0.5
"""How often this process looks how far the others have come."""

OnTrial = Callable[[int, int], None]
"""Told the number of a split and how many of its fits have ended."""

OnSplit = Callable[[int, SplitResult], None]
"""Told the number of a split and what came out of it, in the order in which they end."""


def evaluate_splits(
    work: SplitWork,
    storage: BaseStorage,
    executor: Executor,
    on_trial: OnTrial = lambda split, ended: None,
    on_split: OnSplit = lambda split, result: None,
) -> list[SplitResult]:
    """Evaluate all splits; what comes out does not depend on where that is done.

    With several workers every split is a task. Where there are fewer splits than workers, the fits that a search begins
    with, which do not depend on each other, are tasks before that. A worker is sent paths, and what it finds out it
    leaves in files beside the journal (:class:`~figure_kedro.evaluation.under_way.UnderWay`): whoever comes after a
    worker or a run that was killed goes on from there. The trials of all splits end up in the one journal.

    Args:
        work: What is evaluated.
        storage: The journal of the evaluation; without a file, all is done in this process.
        executor: Where splits are evaluated.
        on_trial: See above.
        on_split: See above.
    """
    results: dict[int, SplitResult] = {}

    def ended(split: int, result: SplitResult) -> None:
        results[split] = result
        on_split(split, result)

    if not isinstance(storage, TrialStorage):
        _here(work, range(work.splits), storage, on_trial, ended)
        return [results[split] for split in range(work.splits)]
    files = UnderWay.beside(storage.path, work.learnt_from)
    files.take_up_journals(storage)  # of a run that was killed
    for split in range(work.splits):
        if (result := files.result(split)) is not None:
            on_trial(split, work.fits)
            ended(split, result)
    missing = [split for split in range(work.splits) if split not in results]
    if executor.workers > 1 and missing and work.splits * work.fits > 1:
        _elsewhere(work, missing, storage, executor, files, on_trial, ended)
    else:
        _here(work, missing, storage, on_trial, ended)
    files.clear()
    return [results[split] for split in range(work.splits)]


def _here(work: SplitWork, splits: Sequence[int], storage: BaseStorage, on_trial: OnTrial, ended: OnSplit) -> None:
    with threads(work.settings.threads):
        for split in splits:
            ended(split, work.evaluate(split, storage, partial(on_trial, split)))


def _elsewhere(
    work: SplitWork,
    splits: list[int],
    storage: TrialStorage,
    executor: Executor,
    files: UnderWay,
    on_trial: OnTrial,
    ended: OnSplit,
) -> None:
    with _watched(files, splits, on_trial):
        limit = Memory(memory().limit // executor.workers, ScratchFolder(files.folder.parent))
        sent = work, uuid.uuid4().hex, files, limit, executor.threads
        needs = _gpus(work), int(PROCESS_BYTES + 2 * sum(view.nbytes for view in work.views))
        for split in splits:
            _seed(files, split, storage, work)
        settings = work.first_settings() if len(splits) < executor.workers else []
        first = [(split, number) for split in splits for number in range(len(settings))]
        tasks = [Task(fit_first, (*sent, *which, settings[which[1]]), *needs) for which in first]
        with closing(executor.run(tasks)) as results:
            for number, result in results:
                _checked(result, first[number][0])
        tasks = [Task(evaluate_one, (*sent, split, settings), *needs) for split in splits]
        with closing(executor.run(tasks)) as results:
            for number, result in results:
                split = splits[number]
                _checked(result, split)
                found = files.result(split)
                if found is None:
                    raise UserError(f"what came out of split {split} is not in {files.folder}; do all workers see it?")
                on_trial(split, work.fits)
                ended(split, found)
        files.take_up_journals(storage)


def _checked(result: Any, split: int) -> None:
    if isinstance(result, Lost):
        raise UserError(f"split {split} was not evaluated: {result.reason}; the same command goes on from here")
    if isinstance(result, Exception):
        raise result


def _seed(files: UnderWay, split: int, storage: TrialStorage, work: SplitWork) -> None:
    """Give the journal of a split the trials that the evaluation has of it."""
    take_up(files.journal(split), storage, only=work.study(split))


@contextmanager
def _watched(files: UnderWay, splits: list[int], on_trial: OnTrial) -> Iterator[None]:
    """Tell how far the splits have come, as their workers say, until the block ends."""
    end = threading.Event()

    def look() -> None:
        seen = dict.fromkeys(splits, 0)
        while not end.wait(LOOK_SECONDS):
            for split, before in seen.items():
                if (now := files.told(split)) > before:
                    seen[split] = now
                    on_trial(split, now)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        end.set()
        watcher.join()


def _gpus(work: SplitWork) -> float:
    return 1.0 if str(getattr(work.settings, "device", "")).startswith("cuda") else 0.0


def evaluate_one(
    work: SplitWork, token: str, files: UnderWay, limit: Memory, cores: int, split: int, settings: list[dict[str, Any]]
) -> Exception | None:
    """A task: evaluate a split and leave what came out beside the journal."""

    def evaluate(same: SplitWork) -> None:
        result = same.evaluate(split, files.journal(split), partial(files.tell, split), files.fits_of(split, settings))
        files.keep_result(split, result)

    return _task(_seen_before(work, token), limit, cores, evaluate)


def fit_first(
    work: SplitWork,
    token: str,
    files: UnderWay,
    limit: Memory,
    cores: int,
    split: int,
    number: int,
    choice: dict[str, Any],
) -> Exception | None:
    """A task: one of the fits that the search of a split begins with."""

    def fit(same: SplitWork) -> None:
        if files.fit(split, number, choice) is None:  # else it was made before a kill
            with suppress(UserError):  # the search meets it again and counts the trial as failed
                files.keep_fit(split, number, choice, same.fit(split, choice))

    return _task(_seen_before(work, token), limit, cores, fit)


def _task(work: SplitWork, limit: Memory, cores: int, do: Callable[[SplitWork], None]) -> Exception | None:
    """Do a piece of work; an error is returned, for whoever gave the work out."""
    try:
        with use_memory(limit), threads(min(work.settings.threads, cores)):
            do(work)
    except Exception as error:
        return sendable(error)
    return None


_last: tuple[str, SplitWork] | None = None


def _seen_before(work: SplitWork, token: str) -> SplitWork:
    """The same work as it was sent before: a worker prepares what a head reads once, for all splits that it gets."""
    global _last
    if _last is None or _last[0] != token:
        _last = token, work
    return _last[1]
