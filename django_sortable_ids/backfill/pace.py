"""The number of rows in a batch, the pauses between batches, requests to stop, and the progress: a
bar on a terminal, plain lines in a log."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from django.core.management.base import OutputWrapper
from django.db import InterfaceError, OperationalError, connections

from ..errors import BackfillError, minutes
from .engines import engine_of

PIECE_SECONDS = 0.2
"""A pause checks for signals this often."""


class Stopped(BaseException):
    """The run was told to stop; no batch is half done. As after Ctrl-C, nobody closes a cursor."""

    def __init__(self, signum: int = signal.SIGINT) -> None:
        super().__init__(signum)
        self.number = signum


class Control:
    """Between two batches, and in pauses, a run checks whether it shall continue.

    ``say`` gets messages for people.
    """

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self.say = say
        self._stop: int | None = None

    def stop(self, signum: int = signal.SIGINT) -> None:
        """End the run after its current batch, because of the signal."""
        self._stop = signum

    def raise_if_stopped(self) -> None:
        """Raise ``Stopped`` if the run shall end."""
        if self._stop is not None:
            raise Stopped(self._stop)

    def pause(self, seconds: float) -> None:
        """Wait, and check for signals all the while."""
        end = time.monotonic() + seconds
        self.raise_if_stopped()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, PIECE_SECONDS))
            self.raise_if_stopped()


@contextmanager
def signals(control: Control | None = None) -> Iterator[None]:
    """In the block, SIGINT and SIGTERM stop the run of the control after its batch. Without a
    control, SIGTERM raises ``Stopped`` and SIGINT KeyboardInterrupt.

    After one that stops, a second signal ends the process at once. Does nothing outside of the main
    thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        for known in (signal.SIGINT, signal.SIGTERM):
            signal.signal(known, signal.SIG_DFL)
        if control is None:
            raise Stopped(signum)
        control.stop(signum)

    interrupt = stop if control else signal.default_int_handler
    handlers = {signal.SIGTERM: stop, signal.SIGINT: interrupt}
    # A handler that C code set, as uWSGI does, stays: Python couldn't restore it.
    known = [signum for signum in handlers if signal.getsignal(signum) is not None]
    before = {signum: signal.signal(signum, handlers[signum]) for signum in known}
    try:
        yield
    finally:
        for handled, handler in before.items():
            signal.signal(handled, handler)


FEWEST, MOST = 500, 100_000
"""Bounds for the rows of a batch; ``--batch-size`` may be less."""

_SMOOTHING = 0.4
"""Weight of the last batch in the average."""
_CHECK_SECONDS = 0.5
"""How often a pause checks whether it is over."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run, as the options of the command."""

    target_time: float | None = None
    """Seconds that a batch should take; None for batches of the plan's size."""
    max_rows_per_second: float | None = None
    sleep: float = 0.0  # seconds between two batches
    pause_file: Path | None = None
    """The run pauses while this file exists."""
    why_wait: Callable[[], str] = lambda: ""
    """Tells why the replica is too late, as ``watch`` does; empty if it isn't."""
    retry_time: float = 60.0
    """Give up after this many seconds of retries."""


class BatchSize:
    """The rows of a batch: as many as take the target time, by an exponential average."""

    def __init__(self, first: int, limits: Limits) -> None:
        self._wanted = first
        self._target_time = limits.target_time
        # At most the rows of one second, so that a slow pace is even.
        self._most = max(1, int(limits.max_rows_per_second or MOST))
        self._limit: int | None = None
        self._rate: float | None = None

    @property
    def rows(self) -> int:
        return min(self._wanted, self._most, self._limit or self._wanted)

    def took(self, rows: int, seconds: float) -> None:
        if self._limit is not None:
            self._limit = None if 2 * self._limit >= self._wanted else 2 * self._limit
        elif self._target_time is not None and rows >= self.rows:
            rate = rows / max(seconds, 1e-6)
            before = rate if self._rate is None else self._rate
            self._rate = _SMOOTHING * rate + (1 - _SMOOTHING) * before
            wanted = min(int(self._rate * self._target_time), 2 * self._wanted)
            self._wanted = max(FEWEST, min(MOST, wanted))

    def halve(self) -> None:
        """Halve the batch, so that it holds fewer locks; it grows again with each commit."""
        self._limit = max(1, self.rows // 2)


class Pace:
    """Pauses after each batch for as long as the limits require."""

    def __init__(
        self, limits: Limits, control: Control, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits
        self._control = control
        self._clock = clock
        self._free_at = clock()

    def rest(self, rows: int) -> None:
        """Wait after a batch of ``rows``, or before the first; ``Stopped`` if the run shall end."""
        self._control.raise_if_stopped()
        if self._limits.max_rows_per_second:
            # A late run catches up at most one second, not in a burst.
            start = max(self._free_at, self._clock() - 1)
            self._free_at = start + rows / self._limits.max_rows_per_second
            self._control.pause(self._free_at - self._clock())
        if rows:
            self._control.pause(self._limits.sleep)
        is_paused, file = False, self._limits.pause_file
        while why := f"{file} exists" if file and file.exists() else self._limits.why_wait():
            if not is_paused:
                self._control.say(f"paused: {why}")
            is_paused = True
            self._control.pause(_CHECK_SECONDS)
        if is_paused:
            self._control.say("resumed")


def watch(replica: str, most: float) -> Callable[[], str]:
    """A function that tells why the replica is too late, or gives an empty text if its lag is at
    most ``most`` seconds.

    Raises ``BackfillError`` if the lag is unknown. If it becomes unknown later, that is a reason to
    pause until it is known again.
    """
    unknown = f"the lag of {replica!r} is not known: its replication has stopped"
    if engine_of(replica).lag() is None:
        raise BackfillError(unknown)

    def reason_to_wait() -> str:
        try:
            lag = engine_of(replica).lag()
        except BackfillError as error:
            return str(error)
        except (OperationalError, InterfaceError) as error:
            connections[replica].close()
            return f"the lag of {replica!r} can't be queried: {error}"
        if lag is None:
            return unknown
        return f"the replica lags by {lag:.0f} s, at most {most:g}" if lag > most else ""

    return reason_to_wait


BAR_SECONDS = 0.2
LOG_SECONDS = 10.0


class Progress:
    """Counts rows, and writes count, rate and remaining time at intervals.

    >>> with Progress(output, total=1000) as progress:
    ...     progress.add(500)
    """

    def __init__(
        self,
        output: OutputWrapper,
        total: int,
        clock: Callable[[], float] = time.monotonic,
        is_brief: bool = False,
        before: int = 0,
    ) -> None:
        """``is_brief``: nothing is written for work that ends before the first interval.
        ``before``: how many rows of the total were done earlier."""
        self._output = output
        self._total = total
        self._clock = clock
        self._is_wordless = is_brief
        self._bar = output.isatty()
        self._done = self._before = before
        self._started = self._written = clock()

    def add(self, rows: int) -> None:
        self._done += rows
        pause = BAR_SECONDS if self._bar else LOG_SECONDS
        if self._clock() - self._written >= pause:
            self.show()

    def show(self) -> None:
        """Write the line now, on a terminal after a bar."""
        self._written, self._is_wordless = self._clock(), False
        line = self.line()
        if self._bar:
            columns = shutil.get_terminal_size().columns - 1
            width = max(0, min(40, columns - len(line) - 1))
            filled = width if self._done >= self._total else width * self._done // self._total
            bar = "#" * filled + "-" * (width - filled)
            # Padded, since the previous line may have been longer; cut for a narrow terminal.
            self._output.write("\r" + f"{bar} {line}".ljust(columns)[:columns], ending="")
        else:
            self._output.write(line)
        # So that a log shows it during the run.
        self._output.flush()

    def say(self, text: str) -> None:
        if self._bar:
            self._output.write("")
        self._output.write(text)
        self._output.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_wordless:
            return
        self.show()
        if self._bar:
            self._output.write("")

    def line(self) -> str:
        """``45 %  151,000/336,776 rows  52,300/s  0:04 left``"""
        seconds = max(self._clock() - self._started, 1e-9)
        rate = (self._done - self._before) / seconds
        left = minutes((self._total - self._done) / rate) if rate else "?"
        end = f"in {minutes(seconds)}" if self._done >= self._total else f"{left} left"
        return f"{share(self._done, self._total)}  {rate:,.0f}/s  {end}"


def share(done: int, total: int) -> str:
    """`` 45 %  151,000/336,776 rows``"""
    return f"{percent(done, total):3d} %  {done:,}/{total:,} rows"


def percent(done: int, total: int) -> int:
    """Rounded down: 100 only if all rows are done."""
    return 100 if done >= total else 100 * done // total
