"""Work that should take moments, ended if it does not."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from figure_kedro.errors import UserError


@contextmanager
def at_most(seconds: float, message: str) -> Iterator[None]:
    """Raise a :class:`UserError` inside of the block after so many seconds of this process's own computing.

    Waiting for other programs does not count. Only the main thread of a process that has such a clock is watched; an
    inner block leaves the clock to the outer one.
    """
    clock = getattr(signal, "ITIMER_VIRTUAL", None)
    watched = threading.current_thread() is threading.main_thread()
    if clock is None or not watched or signal.getitimer(clock)[0] > 0:
        yield
        return

    fired = threading.Event()

    def end(number: int, frame: Any) -> None:
        fired.set()
        raise UserError(message)

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(clock, seconds, 1.0)  # again every second, for somebody may catch what is raised
    try:
        yield
    except Exception as error:
        raise UserError(message) if fired.is_set() else error from None  # others may have wrapped it
    finally:
        signal.setitimer(clock, 0)
        signal.signal(signal.SIGVTALRM, before)
