"""The processes and threads that make the ids, and a clock that is moved again and again."""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Any, NoReturn, TextIO

from django_sortable_ids.schemes import TimeScheme

_SECOND = 1_000_000_000
_MILLISECOND = 1_000_000
_STOP = None
ROUND = (
    -3 * _MILLISECOND,
    _STOP,
    3 * _SECOND,
    -2 * _SECOND,
    -3600 * _SECOND,
    _STOP,
    3600 * _SECOND,
    3 * _MILLISECOND - _SECOND,
)
"""By how many ns the clock steps: it is right again after the last one. A step ends a stop."""


class SteppingClock:
    """``time.time_ns`` with a step after every so many reads."""

    def __init__(self, time_ns: Callable[[], int], reads_between: int) -> None:
        self._time_ns = time_ns
        self._reads_between = max(1, reads_between)
        self._reads = 0
        self._offset = 0
        self._stopped_at: int | None = None
        self.steps = 0

    def __call__(self) -> int:
        # Threads may lose each other's reads: a step then comes a little later.
        self._reads += 1
        if self._reads >= self._reads_between:
            self._reads = 0
            self._step()
        stopped_at = self._stopped_at
        return self._time_ns() + self._offset if stopped_at is None else stopped_at

    def _step(self) -> None:
        step = ROUND[self.steps % len(ROUND)]
        self.steps += 1
        if step is _STOP:
            self._stopped_at = self._time_ns() + self._offset
        else:
            self._offset += step
            self._stopped_at = None


_CLOCK_STEPS = 3 * len(ROUND)
"""How many a process sees, one more or less, until its threads are done."""
_SWITCH_INTERVAL = 1e-5
"""Seconds that a thread runs while others wait; Python's usual ones are 0.005."""


def numbered(scheme: TimeScheme, process: int) -> TimeScheme:
    """The scheme of a process: with a worker number of its own, where there is a place for one."""
    return scheme.with_worker(process) if scheme.layout.workers else scheme


@dataclass(frozen=True)
class Load:
    """What is to be done with a scheme."""

    ids: int = 5_000_000
    """At least so many in all."""
    processes: int = 8
    """Each of them forks another one."""
    threads: int = 4
    """Of each process, the forked ones too."""
    seconds: int = 900
    """When a process is ended that isn't done: one that waits for ever."""
    scheme_of: Callable[[TimeScheme, int], TimeScheme] = numbered
    """The scheme of a process; those that they fork have the numbers after theirs."""

    @property
    def ids_of_a_thread(self) -> int:
        return -(-self.ids // (2 * self.processes * self.threads))


@dataclass
class Result:
    """What has happened: in one process, or in all."""

    ids: int = 0
    forks: int = 0
    clock_steps: int = 0
    steps_back: int = 0
    """Ids that were not greater than the one before them in their thread."""
    repeats: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return not (self.steps_back or self.repeats or self.failures)

    def add(self, other: "Result") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def stress(scheme: TimeScheme, load: Load) -> Result:
    """Make the ids and look at them; whatever was wrong is in the result."""
    started = perf_counter()
    # The processes inherit a generator at work, as those of a server that loads its code first.
    scheme.generate()
    with TemporaryDirectory() as name:
        folder = Path(name)
        processes = [_Process(scheme, load, folder, n) for n in range(load.processes)]
        pids = [_fork(process.run, load.seconds) for process in processes]
        total = Result(failures=_ended(pids))
        for file in folder.glob("*.json"):
            total.add(Result(**json.loads(file.read_text())))
        paths, different = list(folder.glob("*.ids")), folder / "different"
        subprocess.run(["sort", "-u", "-o", different, *paths], check=True, env={"LC_ALL": "C"})
        line = 2 * scheme.byte_length + 1
        total.ids = sum(path.stat().st_size for path in paths) // line
        total.repeats = total.ids - different.stat().st_size // line
    total.seconds = perf_counter() - started
    return total


class _Process:
    """One that makes ids in threads, and forks another one meanwhile."""

    def __init__(self, scheme: TimeScheme, load: Load, folder: Path, number: int) -> None:
        self._inherited = scheme
        self._load = load
        self._folder = folder
        self._number = number
        self._halfway = Event()
        self._result = Result()

    def run(self) -> None:
        """In a process that was forked by the first one."""
        reads = self._load.threads * self._load.ids_of_a_thread
        clock = SteppingClock(time.time_ns, reads // _CLOCK_STEPS)
        time.time_ns = clock
        sys.setswitchinterval(_SWITCH_INTERVAL)
        threads = self._start()
        self._halfway.wait()
        number = self._load.processes + self._number
        child = _Process(self._inherited, self._load, self._folder, number)
        pid = _fork(lambda: child.run_as_child(clock), self._load.seconds)
        self._result.forks += 1
        self._finish(threads, clock)
        self._result.failures += _ended([pid])
        self._save()

    def run_as_child(self, clock: SteppingClock) -> None:
        """In a process that was forked while its parent's threads made ids."""
        clock.steps = 0
        self._finish(self._start(), clock)
        self._save()

    def _start(self) -> list[Thread]:
        scheme = self._load.scheme_of(self._inherited, self._number)
        paths = [self._folder / f"{self._number}-{n}.ids" for n in range(self._load.threads)]
        threads = [Thread(target=self._make, args=(scheme, path)) for path in paths]
        for thread in threads:
            thread.start()
        return threads

    def _finish(self, threads: Sequence[Thread], clock: SteppingClock) -> None:
        for thread in threads:
            thread.join()
        self._result.clock_steps = clock.steps

    def _save(self) -> None:
        said = json.dumps(vars(self._result))
        (self._folder / f"{self._number}.json").write_text(said)

    def _make(self, scheme: TimeScheme, path: Path) -> None:
        count = self._load.ids_of_a_thread
        try:
            with path.open("w") as file:
                half, back = _write(scheme, file, count // 2, b"")
                self._halfway.set()
                _, more = _write(scheme, file, count - count // 2, half)
            self._result.steps_back += back + more
        except BaseException:
            self._result.failures.append(traceback.format_exc())
        finally:
            self._halfway.set()


def _write(scheme: TimeScheme, file: TextIO, count: int, last: bytes) -> tuple[bytes, int]:
    """The last one of ``count`` ids, and how many were not greater than the one before."""
    generate, to_bytes, write = scheme.generate, scheme.to_bytes, file.write
    back = 0
    for _ in range(count):
        made = to_bytes(generate())
        if made <= last:
            back += 1
        last = made
        write(made.hex() + "\n")
    return last, back


def _fork(work: Callable[[], Any], seconds: int) -> int:
    """The process id of one that does ``work`` and then ends."""
    with warnings.catch_warnings():
        # To fork beside threads is what the test is about.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _do(work, seconds)
    return pid


def _do(work: Callable[[], Any], seconds: int) -> NoReturn:
    status = 1
    try:
        signal.alarm(seconds)
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _ended(pids: Sequence[int]) -> list[str]:
    """What is wrong with how the processes have ended."""
    codes = {pid: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}
    return [f"process {pid} ended with {code}" for pid, code in codes.items() if code]
