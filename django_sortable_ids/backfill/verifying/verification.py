"""The result of a verification."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from itertools import chain, islice
from typing import Any

from ...schemes import ID, InvalidID, OutOfRange, TimeScheme

EXAMPLES = 3

MANY, SHARE = 10, 4
"""Rows of equal times that are out of order are a failure if they are at least this many, and more
than one in four of the rows of equal times."""

IN_ORDER = ", strictly in order"
NOT_CHECKED = "; their order could not be checked"
OF_THEIR_TIMES = ", and of their rows' times"

MOST = 5000
"""At most this many rows with ids of another time are kept and compared with each other."""

Moved = list[str]
"""The tick of a row, that of its id, and the key."""


class Disorder(Enum):
    """Two neighbours whose ids are out of order; the value is the attribute that counts them."""

    DECIDED = "unordered"
    """A failure."""
    OF_TIES = "unordered_ties"
    """Of equal times in one tick: a failure if there are many."""
    OF_TIMES = "undecided"
    """Of different times in one tick: a time may have been edited."""


@dataclass(slots=True)
class Verification:
    """The counts of a verification. ``failures`` is empty if all is well."""

    rows: int = 0
    missing: int = 0
    skipped: int = 0
    """Rows that stay without an id: --on-null=skip, --on-out-of-range=skip."""
    duplicates: int = 0
    other_time: int = 0
    """Rows whose id has another time: the application generated it, or the row was edited later."""
    without_time: int = 0
    """Rows with an id, but without a time, or with one out of the scheme's range. Such ids come
    from --on-null=now, --on-out-of-range=clamp or the application."""
    other_versions: int = 0
    """Rows with an accepted UUID of another version: it has no time and no place in the order."""
    refused_versions: int = 0
    """Rows with a UUID of another version that the field doesn't accept."""
    unordered: int = 0
    """Neighbours in (creation time, key) whose ids are out of order although no edit of a time
    explains it: their ids are equal, or their times are, and a tick covers only one time."""
    ties: int = field(default=0, compare=False)
    """Neighbours of equal times, in order or not."""
    unordered_ties: int = 0
    """Neighbours of equal times with ids of one tick that are out of order: one of the times may
    have been edited within the tick."""
    undecided: int = 0
    """As ``unordered_ties``, but of different times."""
    unordered_concurrent: int = 0
    """Neighbours out of order, of times when the application generated ids as well."""
    unconverted: int = 0
    """Rows whose id was not converted from the old one, although it should have been."""
    generated: int = 0
    """Rows whose id the application generated together with the old one."""
    unjudged: int = field(default=0, compare=False)
    """Rows whose place in the order was not checked: their id may be a duplicate."""
    order: str = IN_ORDER
    """The text about the order if all is well."""
    may_be_edited: bool = True
    """Whether the times of the rows may have been edited later; the old ids of a conversion are
    not."""
    kept: str = OF_THEIR_TIMES
    """The text about the times if all is well and the application generated no id."""
    examples_of: dict[str, list[str]] = field(default_factory=dict)
    """The first rows of each ``Disorder``; ``DECIDED`` also has those of other failures."""
    moved: list[Moved] = field(default_factory=list, compare=False)
    """The first rows whose id is of another time."""

    @property
    def given(self) -> int:
        """Rows with an id."""
        return self.rows - self.missing - self.skipped

    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "rows": self.rows,
            "rows_with_id": self.given,
            "rows_without_id": self.missing,
            "rows_skipped": self.skipped,
            "duplicates": self.duplicates,
            "out_of_order": self.out_of_order(Disorder.DECIDED),
            "out_of_order_concurrent": self.unordered_concurrent,
            "out_of_order_undecided": self.out_of_order(Disorder.OF_TIMES),
            "of_another_time": self.other_time,
            "of_rows_without_time": self.without_time,
            "of_each_others_time": self.exchanged,
            "of_other_versions": self.other_versions,
            "of_refused_versions": self.refused_versions,
            "not_converted": self.unconverted,
            "not_converted_concurrent": self.generated,
            "failures": self.failures,
            "examples": self.examples(Disorder.DECIDED),
        }

    @property
    def failures(self) -> list[str]:
        counts = {
            "rows have no id": self.missing,
            "rows share an id with another": self.duplicates,
            "rows are out of order": self.out_of_order(Disorder.DECIDED),
            "rows have an id of another row's time, and that row has one of theirs": (
                0 if self.may_be_edited else self.exchanged
            ),
            "rows have an id that was not converted from their old one": self.unconverted,
            "rows have a UUID of another version; the field lacks accept_other_versions=True": (
                self.refused_versions
            ),
        }
        return [f"{count:,} {what}" for what, count in counts.items() if count]

    @property
    def exchanged(self) -> int:
        """Rows that have ids of each other's time."""
        return 2 * len(list(exchanged(self.moved)))

    def disordered(self, disorder: Disorder, rows: int) -> None:
        """Count rows whose id does not sort after that of the previous row."""
        setattr(self, disorder.value, getattr(self, disorder.value) + rows)

    def misplaced(self, pk: Any, previous: Any, disorder: Disorder) -> None:
        """Count a row that is out of order, and keep it as an example."""
        self.disordered(disorder, 1)
        self.keep(disorder, f"{pk} comes after {previous}, but its id does not")

    def keep(self, disorder: Disorder, example: str) -> None:
        """Keep an example, up to ``EXAMPLES`` of each kind."""
        if self.wants_example(disorder):
            self.examples_of.setdefault(disorder.value, []).append(example)

    def wants_example(self, disorder: Disorder) -> bool:
        return len(self.examples_of.get(disorder.value, ())) < EXAMPLES

    @property
    def is_disordered(self) -> bool:
        counts = (self.unordered, self.unordered_ties, self.undecided, self.unordered_concurrent)
        return any(counts)

    @property
    def has_shuffled_ties(self) -> bool:
        """Whether too many rows of equal times are out of order to be edits of single rows: an
        edited row is out of order with at most one neighbour.
        """
        return self.unordered_ties >= MANY and SHARE * self.unordered_ties > self.ties

    def out_of_order(self, disorder: Disorder) -> int:
        """The number of rows that are a failure (``DECIDED``) or undecided (``OF_TIMES``)."""
        return sum(getattr(self, each.value) for each in self._counted_as(disorder))

    def examples(self, disorder: Disorder) -> list[str]:
        """The first rows of ``out_of_order``."""
        examples = (self.examples_of.get(each.value, ()) for each in self._counted_as(disorder))
        return [*chain.from_iterable(examples)][:EXAMPLES]

    def _counted_as(self, disorder: Disorder) -> tuple[Disorder, ...]:
        ties_are = Disorder.DECIDED if self.has_shuffled_ties else Disorder.OF_TIMES
        return (disorder, Disorder.OF_TIES) if disorder is ties_are else (disorder,)

    def move(self, row: Moved | None) -> None:
        """Keep a row whose id is of another time, if there is room."""
        if row is not None and self.room:
            self.moved.append(row)

    @property
    def room(self) -> int:
        """How many more rows with an id of another time may be kept."""
        return MOST - len(self.moved)

    def lines(self) -> Iterator[str]:
        """The result as text."""
        if not self.rows:
            yield "0 rows: nothing to verify"
            return
        given = self.given
        yield f"{self.rows:,} rows, {given:,} with an id"
        if self.skipped:
            yield f"{self.skipped:,} rows were skipped: they have no time, or one out of range"
        if self.without_time:
            yield (
                f"{self.without_time:,} ids are of rows without a time, or with one out of range: "
                f"generated by --on-null=now, --on-out-of-range=clamp or the application"
            )
        if self.other_time:
            yield (
                f"{self.other_time:,} ids are of another time than their row: generated by the "
                f"application, or the row's time was edited later"
            )
            if not self.room:
                yield f"only the first {MOST:,} of them were checked for exchanged ids"
        if self.may_be_edited and (count := self.exchanged):
            yield (
                f"{count:,} of them have the time of another row, whose id has theirs: either "
                f"both times were edited later, or the ids are wrong"
            )
            yield from self._exchanges()
        if self.other_versions:
            yield f"{self.other_versions:,} ids are UUIDs of another version, which carry no time"
        if self.generated:
            yield f"{self.generated:,} ids were generated by the application, not converted"
        if self.unordered_concurrent:
            yield (
                f"{self.unordered_concurrent:,} rows are out of order, but of times when the "
                f"application generated ids as well"
            )
        if undecided := self.out_of_order(Disorder.OF_TIMES):
            yield (
                f"{undecided:,} rows are out of order within one tick of their ids: either a time "
                f"was edited later, or an id is wrong"
            )
            yield from (f"  {example}" for example in self.examples(Disorder.OF_TIMES))
        has_others = self.other_time or self.without_time or self.other_versions or self.generated
        is_partial = self.unordered_concurrent or undecided
        order = ", the others strictly in order" if is_partial else self._order
        yield from self.failures or [f"all different{order}{'' if has_others else self.kept}"]
        if self.has_shuffled_ties:
            yield (
                f"  {self.unordered_ties:,} of them have the time of the row before, as do "
                f"{self.ties:,} rows in all: too many for edits of single times"
            )
        yield from (f"  {example}" for example in self.examples(Disorder.DECIDED))
        if not self.may_be_edited:
            yield from self._exchanges()

    @property
    def _order(self) -> str:
        """The text about the order; it was not checked if no two rows were compared."""
        is_checked = self.given < 2 or self.given - self.unjudged > 1
        return self.order if is_checked or not self.order else NOT_CHECKED

    def _exchanges(self) -> Iterator[str]:
        for one, other in islice(exchanged(self.moved), EXAMPLES):
            yield f"  {one} and {other} have ids of each other's time"


def moved(scheme: TimeScheme, created: datetime, pk: Any, value: ID) -> Moved | None:
    """The entry for a row created at ``created`` (aware); None if it or its id has no tick."""
    try:
        return [str(scheme.tick(created)), str(scheme.parts(value)[0]), str(pk)]
    except (InvalidID, OutOfRange):
        return None


def exchanged(rows: Sequence[Moved]) -> Iterator[tuple[str, str]]:
    """The keys of each pair of rows that have ids of each other's ticks.

    One id of another time proves nothing: the row's time may have been edited, or the application
    generated the id. But edits rarely make two rows exchange their ticks.
    """
    waiting: dict[tuple[str, str], list[str]] = defaultdict(list)
    for of_row, of_id, key in rows:
        if others := waiting[of_id, of_row]:
            yield others.pop(), key
        else:
            waiting[of_row, of_id].append(key)
