"""Compares the ids of a page with their rows' times and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import lt
from typing import Any

from django.db import models

from ...errors import BackfillError
from ...fields.values.times import aware
from ...schemes import InvalidID, OutOfRange, TimeScheme
from ...schemes.generation.clock import MICROSECOND, UNIX_EPOCH
from ..sources.base import Derived, Row, Target
from ..sources.old_ids import Conversion, Lossless
from ..sources.periods import Unsourced
from .form import Form, Page, Read
from .verification import QUARTER, TOLERANCE, Verification

_SECOND, _DAY, _QUARTER = 1_000_000, 86_400_000_000, QUARTER // MICROSECOND
"""In microseconds, like all times here."""
_LONGEST_SHIFT = 26 * 3600 * _SECOND
"""The distance of the two time zones that are farthest apart."""
_MOST_LOOKED_UP = 200
"""So many converted ids are compared with the old ids of other rows."""


@dataclass(frozen=True, slots=True)
class _Row:
    place: Any
    pk: Any
    number: int
    since: int
    """The time of the row, in microseconds since 1970."""
    start: int
    """The start of its id's tick, as ``since``."""


class Checker:
    """Adds the rows of all pages, which follow each other, to ``found``."""

    def __init__(
        self, target: Target, found: Verification, end: Row | None, given_from: datetime | None
    ) -> None:
        """The run has written the ids up to the row ``end``; from ``given_from`` on, the
        application generated ids as well."""
        self._target, self._found = target, found
        self._scheme, self._form = target.field.scheme, Form(target, found)
        self._times = self._scheme if isinstance(self._scheme, TimeScheme) else None
        self._shared = None if given_from is None else _microseconds(aware(given_from))
        self._resolution = target.times.resolution // MICROSECOND if target.has_times else 0
        self._has_cut_times = end is not None and target.has_times and self._was_cut(end)
        self._previous: tuple[Any, Any, Any] | None = None
        """Key, place and rank of the last row whose place in the order counts."""
        self._moved: list[_Row] = []
        self._looked_up = 0
        tolerance = TOLERANCE // MICROSECOND
        if isinstance(target, Conversion):
            tolerance += target.old.tick_ns // 1000
        self._earlier = self._later = tolerance
        if isinstance(target.source, models.DateField) and not target.has_times:
            self._later += _DAY
        self._length = self._times.tick_ns // 1000 if self._times else 0
        found.may_be_edited = target.may_be_edited
        found.is_decided = (
            not self._times or not target.has_times or self._length <= self._resolution
        )
        if isinstance(target, Conversion):
            found.kept = (
                "each its old id, bit for bit"
                if _is_lossless(target)
                else "of their old ids' times"
            )
        elif isinstance(target, Unsourced):
            found.is_decided = False
            found.kept = ""
            found.notes.append(
                "no source of their times is known, so only form, uniqueness and the order of "
                "numbered keys were checked"
            )

    @property
    def is_unique(self) -> bool:
        """Whether the order shows that no two ids are equal."""
        return self._found.judged == self._found.given and not self._found.unordered

    def check(self, page: Page, *, is_of_run: bool) -> None:
        """Check form, time and order."""
        ids = self._form.read(page)
        if isinstance(self._target, Unsourced):
            self._check_numbered(page, ids)
        elif _is_lossless(self._target):
            self._check_converted(page, ids)
        elif isinstance(self._target, Derived) and not is_of_run:
            self._found.generated += len(ids) - ids.count(None)
        elif self._times:
            self._check_times(page, ids, is_of_run=is_of_run)
        elif is_of_run:
            for (place, pk, _), read in zip(page, ids, strict=True):
                if read is not None:
                    self._place(pk, place, read[1])

    def check_form(self, page: Page) -> None:
        """Check the ids of rows without a time."""
        ids = self._form.read(page)
        self._found.without_time += len(ids) - ids.count(None)

    def _check_times(self, page: Page, ids: Sequence[Read | None], *, is_of_run: bool) -> None:
        times, shared = self._times, self._shared
        assert times is not None
        epoch, length = times.epoch_ns, times.tick_ns
        since_1970: Sequence[int | None]
        try:
            since_1970 = list(self._target.microseconds(row[0] for row in page))
        except (BackfillError, InvalidID, OutOfRange):
            since_1970 = [self._since(row) for row in page]
        if is_of_run and self._is_as_written(page, ids, since_1970):
            return
        for (place, pk, _), read, since in zip(page, ids, since_1970, strict=True):
            if read is None or since is None:
                continue
            number, parts = read
            is_exact = is_of_run and (shared is None or since < shared)
            if parts[0] != (since * 1000 - epoch) // length:
                start = (parts[0] * length + epoch) // 1000
                self._differs(_Row(place, pk, number, since, start), is_exact=is_exact)
            elif is_exact:
                self._place(pk, place, parts)

    def _since(self, row: tuple[Any, Any, Any]) -> int | None:
        """The time of a row; None if it is not readable, which is counted."""
        place, pk, stored = row
        try:
            return next(self._target.microseconds([place]))
        except BackfillError as error:
            self._found.keep("unreadable", f"{pk}: {error}")
        except (InvalidID, OutOfRange):
            if stored is not None:
                self._found.generated += 1  # no backfill writes an id for such an old one
        return None

    def _is_as_written(
        self, page: Page, ids: Sequence[Read | None], since_1970: Sequence[int | None]
    ) -> bool:
        """Whether each id of a page is of its row's tick and in order, as nearly always. Counts
        such a page as ``_place`` does its rows."""
        times, shared = self._times, self._shared
        ranks = [read[1] for read in ids if read is not None]
        since = [each for each in since_1970 if each is not None]
        if not len(ranks) == len(since) == len(page) or (
            shared is not None and max(since) >= shared
        ):
            return False
        assert times is not None
        epoch, length = times.epoch_ns, times.tick_ns
        if [rank[0] for rank in ranks] != [(each * 1000 - epoch) // length for each in since]:
            return False
        before = ranks if self._previous is None else [self._previous[2], *ranks]
        if not all(map(lt, before, before[1:])):
            return False
        self._found.judged += len(page)
        self._previous = (page[-1][1], page[-1][0], ranks[-1])
        return True

    def _check_converted(self, page: Page, ids: Sequence[Read | None]) -> None:
        target, to_int = self._target, self._scheme.to_int
        assert isinstance(target, Lossless)
        assert self._times
        for (old, pk, _), read in zip(page, ids, strict=True):
            if read is None:
                continue
            number, parts = read
            try:
                if to_int(target.convert(old)) == number:
                    continue
                since = _microseconds(target.at(old))
            except (InvalidID, OutOfRange):
                self._found.generated += 1
                continue
            start = (parts[0] * self._times.tick_ns + self._times.epoch_ns) // 1000
            self._differs(_Row(old, pk, number, since, start), is_exact=False)

    def _check_numbered(self, page: Page, ids: Sequence[Read | None]) -> None:
        """The application's ids ascend with a numbered key, but for a minute."""
        target, times = self._target, self._times
        assert isinstance(target, Unsourced)
        if times is None or not target.is_numbered:
            return
        slack = -(-TOLERANCE // MICROSECOND * 1000 // times.tick_ns)
        for (place, pk, _), read in zip(page, ids, strict=True):
            if read is None:
                continue
            parts = read[1]
            if self._previous and parts[0] < self._previous[2] - slack:
                before = self._previous[0]
                example = f"{pk} comes after {before}, but its id is of an earlier time"
                self._found.keep("unordered", example)
            else:
                latest = self._previous[2] if self._previous else parts[0]
                self._previous = (pk, place, max(parts[0], latest))

    def _place(self, pk: Any, place: Any, rank: Any) -> None:
        """Compare a row with the one before it."""
        found, previous = self._found, self._previous
        found.judged += 1
        if previous is not None and rank <= previous[2]:
            is_tie_of_cut_times = self._has_cut_times and place == previous[1]
            if is_tie_of_cut_times or self._is_before(place, previous[1]):
                return
            found.keep("unordered", f"{pk} comes after {previous[0]}, but its id does not")
        self._previous = (pk, place, rank)

    def _is_before(self, place: Any, previous: Any) -> bool:
        """Whether the time of a row is earlier than that of the row before it: another spelling."""
        return self._target.has_times and self._target.at(place) < self._target.at(previous)

    def _differs(self, row: _Row, *, is_exact: bool) -> None:
        """Count a row whose id is not of its tick."""
        times, found = self._times, self._found
        assert times is not None
        own = (row.since * 1000 - times.epoch_ns) // times.tick_ns
        if not times.layout.first_tick <= own <= times.layout.last_tick:
            found.without_time += 1
            return
        late, early = row.start - row.since, row.since - row.start - self._length
        earlier, later = self._earlier, self._later
        if is_exact and self._target.has_times:
            earlier = later = self._resolution
        if late <= later and early <= earlier and not self._is_of_another_row(row):
            found.generated += 1
            return
        quarters = round(late / _QUARTER)
        is_whole = abs(late - quarters * _QUARTER) <= max(_SECOND, self._length)
        if is_whole and 0 < abs(quarters) * _QUARTER <= _LONGEST_SHIFT:
            found.shifts[quarters * QUARTER] += 1
        if found.has_room("other_time"):
            self._moved.append(row)
        found.keep("other_time", self._shown(row))

    def _is_of_another_row(self, row: _Row) -> bool:
        """Whether the id was converted from the old id of another row."""
        if not _is_lossless(self._target) or self._looked_up == _MOST_LOOKED_UP:
            return False
        self._looked_up += 1
        return self._other_of_old(row) is not None

    def _other_of_old(self, row: _Row) -> Any:
        target = self._target
        assert isinstance(target, Lossless)
        try:
            old = self._scheme.convert(self._scheme.from_trusted(row.number), to=target.old)
        except (InvalidID, OutOfRange):
            return None
        if not old.lossless:
            return None
        same = target.rows.filter(**{target.source.name: old.value}).exclude(pk=row.pk)
        return same.values_list("pk", flat=True).first()

    def find_others(self) -> None:
        """Say whose time the ids of other times have: those of other rows were exchanged."""
        target, others = self._target, 0
        if isinstance(target, Derived):
            return
        examples = self._found.examples_of.get("other_time", [])
        for position, row in enumerate(self._moved):
            if isinstance(target, Lossless):
                other = self._other_of_old(row)
            else:
                try:
                    start, stop = self._target.scheme.tick_span(_time(row.start))
                except OutOfRange:
                    continue
                rows = target.rows.filter(target.between(start, stop)).exclude(pk=row.pk)
                first = target.first(rows)
                other = first and first[1]
            if other is not None:
                others += 1
                examples[position] += f", the time of {other}"
        self._found.is_exchanged = others > 1 and others == len(self._moved)

    def _shown(self, row: _Row) -> str:
        value = self._scheme.from_trusted(row.number)
        return (
            f"{row.pk} ({self._target.source.name} {self._target.shown_place(row.place)}) has "
            f"{self._scheme.format(value)}, of {_time(row.start).isoformat()}"
        )

    def _was_cut(self, end: Row) -> bool:
        """Whether the time of the run's last row has lost digits since, as in a column that now
        keeps fewer of them. Then times that are equal now may have been different in the run."""
        rows = self._target.rows.filter(self._target.has_shown_time, pk=end[1])
        now = self._target.first(rows)
        if now is None:
            return False
        difference = _microseconds(self._target.at(end[0])) - _microseconds(self._target.at(now[0]))
        return 0 < abs(difference) < _SECOND


def _is_lossless(target: Target) -> bool:
    return isinstance(target, Lossless)


def _microseconds(at: datetime) -> int:
    return (at - UNIX_EPOCH) // MICROSECOND


def _time(microseconds: int) -> datetime:
    """The nearest time that Python can represent."""
    try:
        return UNIX_EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)
