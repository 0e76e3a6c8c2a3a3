"""Progress: a bar on a terminal, plain lines in a log."""

import shutil
import time
from collections.abc import Callable

from django.core.management.base import OutputWrapper

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
        ``before``: how many rows of the total were done earlier.
        """
        self._output = output
        self._total = total
        self._clock = clock
        self._is_wordless = is_brief
        self._bar = output.isatty()
        self._cells = "█░"
        try:
            self._cells.encode(getattr(output, "encoding", None) or "ascii")
        except UnicodeEncodeError:
            self._cells = "#-"
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
            bar = self._cells[0] * filled + self._cells[1] * (width - filled)
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

    def __enter__(self) -> "Progress":
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


def minutes(seconds: float) -> str:
    """``0:04``, or ``1:00:00`` with hours."""
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
