"""Work in processes of this machine, each of which imports the project once and serves many tasks."""

import importlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, cast

from figure_kedro.errors import UserError
from figure_kedro.execution.executor import ATTEMPTS, INSIDE, Executor, Lost, Task, default_folder
from figure_kedro.execution.shared_folder import SharedFolder
from figure_kedro.training.threads import allowed_cores

CONTEXT = multiprocessing.get_context("spawn")  # a fork of a process with threads, as torch has them, may hang


class LocalProcesses(Executor):
    """Runs tasks in worker processes, among which the cores are divided.

    A worker that dies is replaced, and its task begun again.

    Args:
        workers: How many; never more than there are cores.
        folder: Where they find arrays.
    """

    def __init__(self, workers: int, folder: Path | None = None) -> None:
        cores = allowed_cores()
        if not 1 <= workers <= cores:
            raise UserError(f"{workers} workers on {cores} cores would wait for each other; choose 1 to {cores}")
        self.workers, self.threads = workers, cores // workers
        self.shared: SharedFolder = SharedFolder(folder or default_folder())
        self._early: list[_Worker] = []

    def start(self, *modules: str) -> None:
        """Let the workers begin already, and import modules while this process makes their tasks ready."""
        self._early = [_Worker(self.threads, modules) for _ in range(self.workers)]

    def close(self) -> None:
        while self._early:
            self._early.pop().end()
        super().close()

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[int, Any]]:
        waiting, begun = deque(enumerate(tasks)), Counter[int]()
        busy: dict[Connection, tuple[_Worker, int]] = {}
        needed = min(self.workers, len(tasks))
        idle = [self._early.pop() if self._early else _Worker(self.threads) for _ in range(needed)]
        try:
            while waiting or busy:
                while waiting and idle:
                    worker, (number, task) = idle.pop(), waiting.popleft()
                    begun[number] += 1
                    busy[worker.connection] = worker, number
                    packed = self.shared.pack((task.function, task.arguments))
                    with suppress(ConnectionError):  # it died while it was idle, which is seen below
                        worker.connection.send_bytes(packed)
                for ready in wait(list(busy)):
                    worker, number = busy.pop(cast(Connection, ready))
                    try:
                        result = worker.connection.recv()
                    except (EOFError, OSError):
                        worker.end()
                        idle.append(_Worker(self.threads))
                        if begun[number] < ATTEMPTS:
                            waiting.appendleft((number, tasks[number]))
                            continue
                        result = Lost(f"its process died {ATTEMPTS} times, for instance for want of memory")
                    else:
                        idle.append(worker)
                    yield number, result
        finally:
            for worker in [*idle, *(worker for worker, _ in busy.values())]:
                worker.end()


class _Worker:
    """A process that runs what it is sent, until it is told to end."""

    def __init__(self, threads: int, modules: Sequence[str] = ()) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = str(threads)  # read by the new process when it imports torch
        try:
            self.process = CONTEXT.Process(target=_serve, args=(theirs, modules), daemon=True)
            with _deaf_to_interrupts():
                self.process.start()
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before
        theirs.close()

    def end(self) -> None:
        self.process.kill()  # whatever it was doing is resumed from its checkpoint
        self.process.join()
        self.connection.close()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that are started inside never see an interrupt, which is for the one that gives out the work.

    A worker takes seconds to import the project, in which it could not ignore the signal by itself.
    """
    resource_tracker.ensure_running()  # or the first start would do that, and let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, modules: Sequence[str]) -> None:
    os.environ[INSIDE] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for module in modules:
        importlib.import_module(module)
    while True:
        try:
            function, arguments = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        connection.send(function(*arguments))


def _end_with_parent() -> None:
    """End at once if the process that gives out the work is killed: the next one resumes what this one was doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
