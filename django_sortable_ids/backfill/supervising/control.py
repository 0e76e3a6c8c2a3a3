"""What reaches a run from outside: a wish that it stop, or tell how far it is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handlers = dict[signal.Signals, Callable[[int, FrameType | None], None]]

PIECE_SECONDS = 0.2
"""How long a pause goes on without a look at the signals."""


class Stopped(Exception):
    """Somebody asked for the end; every batch is whole."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        """``number`` is the signal that asked."""
        super().__init__(number)
        self.number = number


class Control:
    """Between two batches, and in pauses, a run asks whether it is to go on.

    ``say`` gets messages for people, ``show`` is called where somebody asked how far it is.
    """

    def __init__(
        self, say: Callable[[str], None] = lambda _: None, show: Callable[[], None] = lambda: None
    ) -> None:
        self.say = say
        self._show = show
        self._stop: int | None = None
        self._asked = False

    def stop(self, number: int = signal.SIGINT) -> None:
        """Let it end after its current batch, as that signal wants."""
        self._stop = number

    def ask(self) -> None:
        """Let it tell how far it is."""
        self._asked = True

    def check(self) -> None:
        """Raises ``Stopped`` where it is to end."""
        if self._asked:
            self._asked = False
            self._show()
        if self._stop is not None:
            raise Stopped(self._stop)

    def pause(self, seconds: float) -> None:
        """Wait, in pieces."""
        end = time.monotonic() + seconds
        self.check()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, PIECE_SECONDS))
            self.check()


@contextmanager
def signals(control: Control) -> Iterator[None]:
    """Until the end of the block, SIGINT and SIGTERM stop the run behind its batch, the second of
    them at once, and SIGUSR1 asks how far it is. Only in the main thread.
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
    """Until the end of the block, SIGTERM raises ``Stopped``, as SIGINT raises KeyboardInterrupt,
    and the second of them ends the process at once. Only in the main thread.
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
        yield  # Python lets no other thread handle signals
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
