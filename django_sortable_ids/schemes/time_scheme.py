"""Schemes whose ids carry their creation time."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeGuard

from .clock_and_randomness import MICROSECOND, UNIX_EPOCH, drawn_below, unix_ns
from .errors import InvalidID, NotTimeOrdered, OutOfRange
from .generator import Generator
from .layout import PLAIN, Layout, SuffixPart, UUIDTemplate
from .scheme import ID, Converted, Scheme, shared
from .support import cached_property

if TYPE_CHECKING:
    from .leased_generator import LeaseSource

SECOND = 1_000_000_000
MILLISECOND = 1_000_000

_UUID7 = Layout(ticks=1 << 48, suffixes=1 << 74, template=UUIDTemplate(7))
_LAST_MICROSECOND = (datetime.max.replace(tzinfo=UTC) - UNIX_EPOCH) // MICROSECOND
_generator_lock = Lock()
_EXAMPLE_TIME = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False, kw_only=True)
class TimeScheme(Scheme):
    """A scheme whose ids contain their creation time: all except the sequence."""

    layout: Layout
    suffix_parts: tuple[SuffixPart, ...] = ()
    """The parts of the suffix, the most significant first, if the format's definition names them.
    Ids that ``generate`` returns have random bits there, or a worker number and a sequence."""
    epoch_ns: int = 0
    """Unix time of tick 0, in ns."""
    tick_ns: int
    worker: int | LeaseSource | None = None
    """The worker number of the ids that ``generate`` returns, if the layout has worker numbers, or
    the source that leases it. None: these bits are random, too. Ids of two processes then collide
    as rarely as those of a random scheme, and not whenever both count from 0."""
    accepts_other_versions: bool = False
    """Whether UUIDs of other versions are ids, too, such as the older values of a column. They have
    no time and no place in the order."""

    @property
    def descending(self) -> bool:
        """The newest id is the smallest."""
        return self.layout.descending

    @property
    def sorts(self) -> bool:
        """Whether values sort by time: newest last or, if ``descending``, newest first."""
        return self.layout.template.keeps_order

    @property
    def is_uuid7(self) -> bool:
        return (self.layout, self.epoch_ns, self.tick_ns) == (_UUID7, 0, MILLISECOND)

    @cached_property
    def holds(self) -> Callable[[int], bool]:
        first, last = self.bounds
        if self.accepts_other_versions or self.layout.template is PLAIN:
            return lambda number: first <= number <= last
        fits = self.layout.template.fits
        return lambda number: first <= number <= last and fits(number)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """All numbers between these two are ids if their fixed bits are right."""
        if self.accepts_other_versions or not self.sorts:
            return 0, (1 << self.bits) - 1
        return self.whole_range

    def is_canonical(self, value: object) -> TypeGuard[str]:
        if type(value) is not str or self._text_range is None:
            return False
        first, last = self._text_range
        return first <= value <= last and self.canonical.is_canonical(value)

    @cached_property
    def _text_range(self) -> tuple[str, str] | None:
        """The first and the last value, if all canonical texts between them are values."""
        form = self.canonical
        if self.value_type is not str or not form.keeps_order or self.layout.template is not PLAIN:
            return None
        first, last = map(form.format, self.whole_range)
        return first, last

    def _misfit(self, number: int) -> str:
        wanted = self.layout.template.version
        version = number >> 76 & 0xF
        if wanted is None or wanted == version or number >> self.bits:
            return super()._misfit(number)
        return f"it is a UUID of version {version}, not {wanted}"

    # Generation

    def generate(self, at: datetime | None = None) -> ID:
        """A new value of the current time, after all earlier ones of this process in the order.

        With ``at``, which is aware, a value of that time with a random suffix.
        Raises ``OutOfRange`` if the scheme can't hold the time, and ``ClockRollback`` if the clock
        went back and the setting ``CLOCK_ROLLBACK`` is ``"raise"``.
        """
        return self._generator.next(at)  # type: ignore[no-any-return]

    def generate_many(self, n: int, at: datetime | None = None) -> Sequence[ID]:
        """``n`` new values, strictly increasing; strictly decreasing for a reversed scheme.

        Raises ``OutOfRange`` if the tick of ``at`` has no room for ``n`` ids.
        """
        if at is None:
            return self._generator.take(n)
        tick = self.tick(at)
        layout = self.layout.new
        room = layout.capacity(tick)
        if n > room:
            raise OutOfRange(f"{self.title} has room for {room} ids of one tick, not for {n}")
        # One from each of n equal parts of the tick.
        size = room // max(n, 1)
        suffixes = [part * size + drawn for part, drawn in enumerate(drawn_below([size] * n))]
        return self.all_from_trusted(layout.joiner.join_all(tick, suffixes))

    def with_worker(self, worker: int | LeaseSource | None) -> TimeScheme:
        """This scheme with a worker number; always the same object for the same number.

        A ``LeaseSource`` is called for the number at the first id. Raises ``ValueError`` if the
        layout has no such worker number.
        """
        return self if worker == self.worker else _with_worker(self, worker)

    @cached_property
    def _generator(self) -> Generator:
        options: Any = {
            "epoch_ns": self.epoch_ns,
            "tick_ns": self.tick_ns,
            "write": self.from_trusted,
            "write_all": self.all_from_trusted,
            "of_time": lambda at: self.generate_many(1, at)[0],
        }
        if callable(self.worker):
            from .leased_generator import LeasedGenerator

            new: Generator = LeasedGenerator(self.layout, self.worker, **options)
        else:
            new = Generator(self.layout.new, worker=self.worker, **options)
        # Two threads that generate the first ids must share one generator.
        with _generator_lock:
            shared: Generator = vars(self).setdefault("_generator", new)
        # From now on without the method, which would take a tenth of the time.
        vars(self)["generate"] = shared.next
        return shared

    # Time

    def created_at(self, value: ID) -> datetime:
        tick, _ = self.parts(value)
        microseconds = self._microseconds(tick)
        if microseconds > _LAST_MICROSECOND:
            raise OutOfRange(f"{self.format(value)} is after the year 9999")
        return _moment(microseconds)

    def carries_time(self, value: ID) -> bool:
        """Whether it is an id with a time; a UUID of another version is none."""
        with suppress(InvalidID):
            number = value.int if isinstance(value, uuid.UUID) else self.to_int(value)
            return self.layout.split(number) is not None
        return False

    def parts(self, value: ID) -> tuple[int, int]:
        """The tick since the scheme's epoch, and the suffix; ``InvalidID`` if there are none."""
        number = self.to_int(value)
        parts = self.layout.split(number)
        if parts is None:
            raise self._refusal(value, self._misfit(number), self.canonical)
        return parts

    def tick(self, at: datetime) -> int:
        """The tick that contains ``at``; ``OutOfRange`` if the scheme has none."""
        if not self.can_hold(at):
            raise OutOfRange(self._out_of_range(at))
        return self._floor(at)

    def tick_from(self, at: datetime) -> int:
        """The first tick that starts at or after ``at``; ``OutOfRange`` after the last one."""
        tick = max(self._ceiling(at), self.layout.first_tick)
        if tick > self.layout.last_tick:
            raise OutOfRange(self._out_of_range(at))
        return tick

    def ticks(self, microseconds: Sequence[int]) -> list[int]:
        """``tick`` for many times, given as Unix times in microseconds."""
        if not microseconds:
            return []
        for end in (min(microseconds), max(microseconds)):
            self.tick(_moment(end))
        epoch_ns, tick_ns = self.epoch_ns, self.tick_ns
        return [(time * 1000 - epoch_ns) // tick_ns for time in microseconds]

    def tick_span(self, at: datetime) -> tuple[datetime, datetime]:
        """Start and end (excluded) of the tick that contains ``at``; at least a microsecond.

        Raises ``OutOfRange`` like ``tick``, and if the end is after the year 9999.
        """
        start = self._microseconds(self.tick(at))
        end = max(self._microseconds(self.tick(at) + 1), start + 1)
        if end > _LAST_MICROSECOND:
            raise OutOfRange(self._out_of_range(at))
        return _moment(start), _moment(end)

    @cached_property
    def earliest(self) -> datetime:
        return _moment(self._microseconds(self.layout.first_tick))

    @cached_property
    def latest(self) -> datetime:
        """The latest time of an id that fits a ``datetime``."""
        last = min(self._microseconds(self.layout.last_tick), _LAST_MICROSECOND)
        return _moment(self._microseconds(self._floor(_moment(last))))

    def can_hold(self, at: datetime) -> bool:
        """Whether ids of the time ``at`` (aware) exist."""
        return self.layout.first_tick <= self._floor(at) <= self.layout.last_tick

    def lower_bound(self, at: datetime) -> ID:
        """The least value generated at or after ``at`` (aware).

        So ``a <= created_at(v) < b`` exactly when ``lower_bound(a) <= v < lower_bound(b)``. For a
        reversed scheme it is the greatest value generated at or after ``at``, and the range is
        ``lower_bound(b) < v <= lower_bound(a)``. Raises ``OutOfRange`` after the last time.
        """
        numbers = self.number_range(at, None)
        if numbers is None:
            raise OutOfRange(self._out_of_range(at))
        smallest, largest = numbers
        return self.from_trusted(largest if self.descending else smallest)

    def number_range(self, start: datetime | None, stop: datetime | None) -> tuple[int, int] | None:
        """The smallest and the largest number of ``start <= time < stop``; None if there are none.

        None as a bound means unbounded.
        """
        if not self.sorts:
            raise NotTimeOrdered(f"{self.title} values do not sort by their times")
        first, last = self.layout.first_tick, self.layout.last_tick
        if start is not None:
            first = max(first, self._ceiling(start))
        if stop is not None:
            last = min(last, self._ceiling(stop) - 1)
        return self.layout.between(first, last) if first <= last else None

    @cached_property
    def whole_range(self) -> tuple[int, int]:
        """The smallest and the largest number of the scheme."""
        return self.layout.between(self.layout.first_tick, self.layout.last_tick)

    def _floor(self, at: datetime) -> int:
        return (unix_ns(at) - self.epoch_ns) // self.tick_ns

    def _ceiling(self, at: datetime) -> int:
        return -((self.epoch_ns - unix_ns(at)) // self.tick_ns)

    def _microseconds(self, tick: int) -> int:
        return (self.epoch_ns + tick * self.tick_ns) // 1000

    def _out_of_range(self, at: datetime) -> str:
        return (
            f"{self.title} can't hold {at.isoformat()}: "
            f"it holds {self.earliest.isoformat()} to {self.latest.isoformat()}"
        )

    # Conversion

    def convert(self, value: ID, to: Scheme) -> Converted:
        """The id in another scheme: bit for bit if the other scheme can hold it, else with the same
        time and new random bits.

        Lossless are, for example, uuid7 to ulid, ulid to hexulid and back, and uuid1, uuid6 and
        comb13 to each other. Raises ``OutOfRange`` if the other scheme can't hold the time,
        ``NotTimeOrdered`` if it has no time.
        """
        if not isinstance(to, TimeScheme):
            raise NotTimeOrdered(f"{to.title} carries no creation time to convert to")
        tick, suffix = self.parts(value)
        ours, theirs = self.layout, to.layout
        if (self.epoch_ns, self.tick_ns) == (to.epoch_ns, to.tick_ns):
            if (ours.ticks, ours.suffixes) == (theirs.ticks, theirs.suffixes):
                return Converted(to.from_trusted(theirs.join(tick, suffix)), lossless=True)
            parts = theirs.split(self.to_int(value)) if self.bits == to.bits else None
            if parts is not None and parts[0] == tick:
                return Converted(to.from_trusted(self.to_int(value)), lossless=True)
        return Converted(to.generate(self.created_at(value)), lossless=False)

    # Messages

    @cached_property
    def example(self) -> ID:
        layout = self.layout
        tick = min(max(self._floor(_EXAMPLE_TIME), layout.first_tick), layout.last_tick)
        return self.from_trusted(self.layout.join(tick, self.layout.capacity(tick) // 7 * 5))


def _moment(microseconds: int) -> datetime:
    return UNIX_EPOCH + timedelta(microseconds=microseconds)


@cache
def _with_worker(scheme: TimeScheme, worker: int | LeaseSource | None) -> TimeScheme:
    changed = shared(replace(scheme, worker=worker))
    _ = changed._generator  # raises for a wrong worker number now, not at the first id
    return changed


@cache
def accepting_other_versions(scheme: TimeScheme) -> TimeScheme:
    """The scheme for a column that also holds UUIDs of other versions; always the same object.

    ``created_at`` and all other methods that need a time raise ``InvalidID`` for them.
    """
    return shared(replace(scheme, accepts_other_versions=True))
