"""What reaches a run from outside: a wish that it stop, or tell how far it is."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PIECE_SECONDS = 0.2
"""How long a pause goes on without a look at the signals."""


class Stopped(Exception):
    """Somebody asked for the end; every batch is whole."""


class Control:
    """Between two batches, and in pauses, a run asks whether it is to go on.

    ``say`` gets messages for people, ``show`` is called where somebody asked how far it is.
    """

    def __init__(
        self, say: Callable[[str], None] = lambda _: None, show: Callable[[], None] = lambda: None
    ) -> None:
        self.say = say
        self._show = show
        self._stop = False
        self._asked = False

    def stop(self) -> None:
        """Let it end behind the batch that it is at."""
        self._stop = True

    def ask(self) -> None:
        """Let it tell how far it is."""
        self._asked = True

    def check(self) -> None:
        """Raises ``Stopped`` where it is to end."""
        if self._asked:
            self._asked = False
            self._show()
        if self._stop:
            raise Stopped

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
        control.stop()
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    handlers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
        signal.SIGINT: stop,
        signal.SIGTERM: stop,
    }
    if hasattr(signal, "SIGUSR1"):
        handlers[signal.SIGUSR1] = lambda number, frame: control.ask()
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
