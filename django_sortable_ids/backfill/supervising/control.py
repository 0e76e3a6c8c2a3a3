"""Requests from outside: to stop a run, or to show its progress."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handlers = dict[signal.Signals, Callable[[int, FrameType | None], None]]

PIECE_SECONDS = 0.2
"""A pause checks for signals this often."""


class Stopped(Exception):
    """The run was told to stop; no batch is half done."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        """``number`` is the signal that stopped it."""
        super().__init__(number)
        self.number = number


class Control:
    """Between two batches, and in pauses, a run checks whether it shall continue.

    ``say`` gets messages for people. ``show`` is called when the progress was requested.
    """

    def __init__(
        self, say: Callable[[str], None] = lambda _: None, show: Callable[[], None] = lambda: None
    ) -> None:
        self.say = say
        self._show = show
        self._stop: int | None = None
        self._asked = False

    def stop(self, number: int = signal.SIGINT) -> None:
        """End the run after its current batch, because of that signal."""
        self._stop = number

    def ask(self) -> None:
        """Request the progress."""
        self._asked = True

    def check(self) -> None:
        """Show the progress if requested; raises ``Stopped`` if the run shall end."""
        if self._asked:
            self._asked = False
            self._show()
        if self._stop is not None:
            raise Stopped(self._stop)

    def pause(self, seconds: float) -> None:
        """Wait, and check for signals all the while."""
        end = time.monotonic() + seconds
        self.check()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, PIECE_SECONDS))
            self.check()


@contextmanager
def signals(control: Control) -> Iterator[None]:
    """In the block, SIGINT and SIGTERM stop the run after its batch, and a second one at once.
    SIGUSR1 shows the progress. Does nothing outside of the main thread.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        control.stop(number)
        _end_at_once_next_time()

    handlers: _Handlers = {signal.SIGINT: stop, signal.SIGTERM: stop}
    if hasattr(signal, "SIGUSR1"):
        handlers[signal.SIGUSR1] = lambda number, frame: control.ask()
    with _handled(handlers):
        yield


@contextmanager
def stoppable() -> Iterator[None]:
    """In the block, SIGTERM raises ``Stopped``, as SIGINT raises KeyboardInterrupt. After that, a
    second signal ends the process at once. Does nothing outside of the main thread.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        _end_at_once_next_time()
        raise Stopped(number)

    with _handled({signal.SIGTERM: stop}):
        yield


def _end_at_once_next_time() -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


@contextmanager
def _handled(handlers: _Handlers) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
