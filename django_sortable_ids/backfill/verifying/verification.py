"""What is found when the ids of a table are verified."""

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
"""From so many rows on, and where they are more than the fourth part, rows of equal times that are
out of order are a failure."""

IN_ORDER = ", strictly in order"
NOT_JUDGED = "; the order of none could be judged"
OF_THEIR_TIMES = ", and of their rows' times"

MOST = 5000
"""So many rows with ids of another time are kept to be compared with each other."""

Moved = list[str]
"""The tick of a row, that of its id, and the key."""


class Disorder(Enum):
    """What it means that the ids of two neighbours are out of order: where it is counted."""

    DECIDED = "unordered"
    OF_TIES = "unordered_ties"
    OF_TIMES = "undecided"


@dataclass(slots=True)
class Verification:
    """What was found. ``failures`` is empty where all is well."""

    rows: int = 0
    missing: int = 0
    skipped: int = 0
    """Rows that are to stay without an id: --on-null=skip, --on-out-of-range=skip."""
    duplicates: int = 0
    other_time: int = 0
    """Rows whose id is of another time: made by the application, or the time was edited since."""
    without_time: int = 0
    """Rows with an id that have no time, or one that the scheme doesn't hold: --on-null=now and
    --on-out-of-range=clamp give such ids, and the application."""
    other_versions: int = 0
    """Rows with an accepted UUID of another version: it has no time and no place in the order."""
    refused_versions: int = 0
    """Rows with one that the field doesn't accept."""
    unordered: int = 0
    """Neighbours in (creation time, key) whose ids don't sort so, and no edit of a time explains
    it: their ids are equal, or their times, which are all that a tick has."""
    ties: int = field(default=0, compare=False)
    """Neighbours of equal times, in order or not."""
    unordered_ties: int = 0
    """Those of them whose ids of one tick don't sort so: one of the times may have been edited
    within the tick."""
    undecided: int = 0
    """And such neighbours of different times."""
    unordered_beside: int = 0
    """And such among rows of times at which the application made ids, too."""
    unconverted: int = 0
    """Rows whose id was not made of the old one, though it should have been."""
    made_beside: int = 0
    """Rows whose id was not made of the old one, but together with it, by the application."""
    unjudged: int = field(default=0, compare=False)
    """Rows whose id may be that of another, as far as the order tells."""
    order: str = IN_ORDER
    """What is said of the order where all is well."""
    may_be_edited: bool = True
    """Whether the times of the rows may have been edited since, which the old ids of a conversion
    have not."""
    kept: str = OF_THEIR_TIMES
    """And what more, where no id was made by the application."""
    examples_of: dict[str, list[str]] = field(default_factory=dict)
    """The first rows of each ``Disorder``; the first one is also that of other failures."""
    moved: list[Moved] = field(default_factory=list, compare=False)
    """The first rows whose id is of another time."""

    @property
    def given(self) -> int:
        """Rows with an id."""
        return self.rows - self.missing - self.skipped

    def document(self) -> dict[str, Any]:
        """The result, for programs."""
        return {
            "rows": self.rows,
            "rows_with_id": self.given,
            "rows_without_id": self.missing,
            "rows_skipped": self.skipped,
            "duplicates": self.duplicates,
            "out_of_order": self.out_of_order(Disorder.DECIDED),
            "out_of_order_concurrent": self.unordered_beside,
            "out_of_order_undecided": self.out_of_order(Disorder.OF_TIMES),
            "of_another_time": self.other_time,
            "of_rows_without_time": self.without_time,
            "of_each_others_time": self.exchanged,
            "of_other_versions": self.other_versions,
            "of_refused_versions": self.refused_versions,
            "not_converted": self.unconverted,
            "not_converted_concurrent": self.made_beside,
            "failures": self.failures,
            "examples": self.examples(Disorder.DECIDED),
        }

    @property
    def failures(self) -> list[str]:
        found = {
            "rows have no id": self.missing,
            "rows share an id with another": self.duplicates,
            "rows are out of order": self.out_of_order(Disorder.DECIDED),
            "rows have an id of the time of another row, which has one of theirs": (
                0 if self.may_be_edited else self.exchanged
            ),
            "rows have an id that was not made of their old one": self.unconverted,
            "rows have a UUID of another version, and the field no accept_other_versions=True": (
                self.refused_versions
            ),
        }
        return [f"{count:,} {what}" for what, count in found.items() if count]

    @property
    def exchanged(self) -> int:
        """Rows that have ids of each other's time."""
        return 2 * len(list(exchanged(self.moved)))

    def disordered(self, disorder: Disorder, rows: int) -> None:
        """Count rows whose id sorts in front of that of the previous one."""
        setattr(self, disorder.value, getattr(self, disorder.value) + rows)

    def misplaced(self, pk: Any, previous: Any, disorder: Disorder) -> None:
        """Count such a row, and keep it as an example."""
        self.disordered(disorder, 1)
        self.keep(disorder, f"{pk} comes after {previous}, its id does not")

    def keep(self, disorder: Disorder, example: str) -> None:
        """Keep an example, as long as there are few."""
        if self.wants_example(disorder):
            self.examples_of.setdefault(disorder.value, []).append(example)

    def wants_example(self, disorder: Disorder) -> bool:
        return len(self.examples_of.get(disorder.value, ())) < EXAMPLES

    @property
    def is_disordered(self) -> bool:
        found = (self.unordered, self.unordered_ties, self.undecided, self.unordered_beside)
        return any(found)

    @property
    def has_shuffled_ties(self) -> bool:
        """Whether so many rows of equal times are out of order that no edits of single rows explain
        it: an edited row is out of order with one neighbour at most.
        """
        return self.unordered_ties >= MANY and SHARE * self.unordered_ties > self.ties

    def out_of_order(self, disorder: Disorder) -> int:
        """How many rows are a failure, or, of other times, can't be told."""
        return sum(getattr(self, each.value) for each in self._judged_as(disorder))

    def examples(self, disorder: Disorder) -> list[str]:
        """The first of them."""
        found = (self.examples_of.get(each.value, ()) for each in self._judged_as(disorder))
        return [*chain.from_iterable(found)][:EXAMPLES]

    def _judged_as(self, disorder: Disorder) -> tuple[Disorder, ...]:
        ties_are = Disorder.DECIDED if self.has_shuffled_ties else Disorder.OF_TIMES
        return (disorder, Disorder.OF_TIES) if disorder is ties_are else (disorder,)

    def move(self, row: Moved | None) -> None:
        """Keep a row whose id is of another time, as long as there is room."""
        if row is not None and self.room:
            self.moved.append(row)

    @property
    def room(self) -> int:
        """How many more rows with an id of another time are kept."""
        return MOST - len(self.moved)

    def lines(self) -> Iterator[str]:
        """The result, for people."""
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
                f"made by --on-null=now, --on-out-of-range=clamp or the application"
            )
        if self.other_time:
            yield (
                f"{self.other_time:,} ids are of another time than their row: made by the "
                f"application, or the row's time was changed since"
            )
            if not self.room:
                yield f"only {MOST:,} of them were compared with each other for exchanged ids"
        if self.may_be_edited and (count := self.exchanged):
            yield (
                f"{count:,} of them have the time of another row, which has theirs: both times "
                f"were edited since, or the ids are wrong, which can't be told"
            )
            yield from self._exchanges()
        if self.other_versions:
            yield f"{self.other_versions:,} ids are UUIDs of another version, which carry no time"
        if self.made_beside:
            yield f"{self.made_beside:,} ids are not the old ones converted: the application's own"
        if self.unordered_beside:
            yield (
                f"{self.unordered_beside:,} rows are out of order, but of times at which the "
                f"application made ids, too"
            )
        if undecided := self.out_of_order(Disorder.OF_TIMES):
            yield (
                f"{undecided:,} rows are out of order within one tick of their ids: a time "
                f"was edited since, or an id is wrong, which can't be told"
            )
            yield from (f"  {example}" for example in self.examples(Disorder.OF_TIMES))
        has_others = self.other_time or self.without_time or self.other_versions or self.made_beside
        is_partial = self.unordered_beside or undecided
        order = ", the others strictly in order" if is_partial else self._order
        yield from self.failures or [f"all different{order}{'' if has_others else self.kept}"]
        if self.has_shuffled_ties:
            yield (
                f"  {self.unordered_ties:,} of them have the time of the row before, as "
                f"{self.ties:,} rows have: these are more than edits of single times explain"
            )
        yield from (f"  {example}" for example in self.examples(Disorder.DECIDED))
        if not self.may_be_edited:
            yield from self._exchanges()

    @property
    def _order(self) -> str:
        """What is said of the order, of which nothing is known where no two rows were compared."""
        is_judged = self.given < 2 or self.given - self.unjudged > 1
        return self.order if is_judged or not self.order else NOT_JUDGED

    def _exchanges(self) -> Iterator[str]:
        for one, other in islice(exchanged(self.moved), EXAMPLES):
            yield f"  {one} and {other} have ids of each other's time"


def moved(scheme: TimeScheme, created: datetime, pk: Any, value: ID) -> Moved | None:
    """What is kept of a row; ``created`` is aware. None where it has no tick."""
    try:
        return [str(scheme.tick(created)), str(scheme.parts(value)[0]), str(pk)]
    except (InvalidID, OutOfRange):
        return None


def exchanged(rows: Sequence[Moved]) -> Iterator[tuple[str, str]]:
    """The keys of every two rows that have ids of each other's ticks.

    An id of another time than its row's says nothing by itself: the row's time may have been
    edited, or the application generated the id. Edits seldom let two rows exchange their ticks.
    """
    waiting: dict[tuple[str, str], list[str]] = defaultdict(list)
    for of_row, of_id, key in rows:
        if others := waiting[of_id, of_row]:
            yield others.pop(), key
        else:
            waiting[of_row, of_id].append(key)
