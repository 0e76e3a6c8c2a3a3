"""Compares the stored values of a page with what their field stores for an id, and the ids with
their rows' times and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import lt
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connections

from ...errors import BackfillError
from ...fields.values.storage import UUIDStorage
from ...fields.values.times import aware
from ...schemes import InvalidID, OutOfRange, TimeScheme
from ...schemes.generation.clock import MICROSECOND, UNIX_EPOCH
from ..sources.base import Row
from ..sources.old_ids import Lossless
from ..sources.target import Target
from .verification import EXAMPLES, Verification

_SECOND, _QUARTER = timedelta(seconds=1), timedelta(minutes=15)
_LONGEST_SHIFT = timedelta(hours=26)
"""The distance of the two time zones that are farthest apart."""
_EXCHANGED = "of the times of other rows: ids were exchanged between rows"
_MOST_LOOKED_UP = 200
"""So many converted ids are compared with the old ids of other rows."""

Page = Sequence[tuple[Any, Any, Any]]
"""Place, key and stored value of each row."""

Read = tuple[int, Any]
"""The number of an id, and what it sorts by: tick and suffix, or the number if it has no time."""

_READ_ERRORS = (ValueError, TypeError, AttributeError, OverflowError)
"""Of a stored value of any type that is no id."""


@dataclass(frozen=True, slots=True)
class _Row:
    place: Any
    pk: Any
    number: int
    since: int
    """The time of the row, in microseconds since 1970, as all times here."""
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
        source, expected = target.source, target.source.expected
        self._shared = None if given_from is None else _microseconds(aware(given_from))
        self._resolution = source.times.resolution // MICROSECOND if source.times else 0
        self._has_cut_times = end is not None and source.times is not None and self._was_cut(end)
        self._previous: tuple[Any, Any, Any] | None = None
        """Key, place and rank of the last row whose place in the order counts."""
        self._looked_up = 0
        self._exchanged: list[bool] = []
        """Whether the first ids of another time that no time zone explains are of other rows."""
        self._earlier = expected.earlier // MICROSECOND
        self._later = expected.later // MICROSECOND
        self._length = self._times.tick_ns // 1000 if self._times else 0
        has_times = self._times is not None and source.times is not None
        found.is_decided = not has_times or self._length <= self._resolution
        found.may_be_edited, found.kept = expected.may_be_edited, expected.kept
        if not expected.kept:
            found.is_decided = False
            found.notes.append(
                "no source of their times is known, so only form, uniqueness and the order of "
                "numbered keys were checked"
            )

    @property
    def is_unique(self) -> bool:
        """Whether the order shows that no two ids are equal."""
        return self._found.judged == self._found.given and not self._found.unordered

    def check(self, page: Page, *, is_of_run: bool) -> None:
        self._target.source.compare(self, page, self._form.read(page), is_of_run=is_of_run)

    def check_form(self, page: Page) -> None:
        """Check the ids of rows without a time."""
        ids = self._form.read(page)
        self._found.without_time += len(ids) - ids.count(None)

    def count_generated(self, ids: Sequence[Read | None]) -> None:
        """Count ids that only the application can have generated."""
        self._found.generated += len(ids) - ids.count(None)

    def check_times(self, page: Page, ids: Sequence[Read | None], *, is_of_run: bool) -> None:
        """Compare each id with the time of its row, and those of the run with their order."""
        times, shared = self._times, self._shared
        if times is None:
            for (place, pk, _), read in zip(page, ids, strict=True):
                if read is not None and is_of_run:
                    self._place(pk, place, read[1])
            return
        epoch, length = times.epoch_ns, times.tick_ns
        since_1970: Sequence[int | None]
        try:
            since_1970 = list(self._target.source.microseconds(row[0] for row in page))
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
            return next(self._target.source.microseconds([place]))
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

    def check_converted(self, page: Page, ids: Sequence[Read | None], source: Lossless) -> None:
        """Compare each id with the one converted from its old id."""
        to_int, new = self._scheme.to_int, self._scheme
        assert self._times
        for (old, pk, _), read in zip(page, ids, strict=True):
            if read is None:
                continue
            number, parts = read
            try:
                if to_int(source.old.convert(old, to=new).value) == number:
                    continue
                since = _microseconds(source.at(old))
            except (InvalidID, OutOfRange):
                self._found.generated += 1
                continue
            start = (parts[0] * self._times.tick_ns + self._times.epoch_ns) // 1000
            row = _Row(old, pk, number, since, start)
            self._differs(row, is_exact=False, is_of_another=self._is_of_another(row, source))

    def check_numbered(self, page: Page, ids: Sequence[Read | None]) -> None:
        """The application's ids ascend with a numbered key, but for a minute."""
        times = self._times
        if times is None:
            return
        slack = -(-self._earlier * 1000 // times.tick_ns)
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
        source = self._target.source
        return source.times is not None and source.at(place) < source.at(previous)

    def _differs(self, row: _Row, *, is_exact: bool, is_of_another: bool = False) -> None:
        """Count a row whose id is not of its tick."""
        times, found = self._times, self._found
        assert times is not None
        own = (row.since * 1000 - times.epoch_ns) // times.tick_ns
        if not times.layout.first_tick <= own <= times.layout.last_tick:
            found.without_time += 1
            return
        late, early = row.start - row.since, row.since - row.start - self._length
        earlier, later = self._earlier, self._later
        if is_exact and self._target.source.times:
            earlier = later = self._resolution
        if late <= later and early <= earlier and not is_of_another:
            found.generated += 1
            return
        found.causes[self._cause(row, is_of_another=is_of_another)] += 1
        found.keep("other_time", self._shown(row))

    def _cause(self, row: _Row, *, is_of_another: bool) -> str:
        """What explains the time of an id; empty if nothing does. All time zones are a whole number
        of quarters of an hour apart."""
        if is_of_another:
            return _EXCHANGED
        late = timedelta(microseconds=row.start - row.since)
        quarters = round(late / _QUARTER)
        slack = max(_SECOND, timedelta(microseconds=self._length))
        is_shifted = quarters and abs(late - quarters * _QUARTER) <= slack
        if self._target.source.times and is_shifted and abs(late) <= _LONGEST_SHIFT:
            minutes, side = 15 * abs(quarters), "early" if quarters < 0 else "late"
            return f"{minutes // 60}:{minutes % 60:02} h too {side}: a wrong time zone"
        if len(self._exchanged) < EXAMPLES:
            self._exchanged.append(self._has_time_of_another(row))
        return _EXCHANGED if all(self._exchanged) else ""

    def _has_time_of_another(self, row: _Row) -> bool:
        """Whether another row has a time in the tick of the id."""
        source = self._target.source
        if source.order == ("pk",):
            return False  # its keys tell no times
        try:
            tick = self._target.scheme.tick_span(_time(row.start))
        except OutOfRange:
            return False
        return self._target.rows.filter(source.between(*tick)).exclude(pk=row.pk).exists()

    def _is_of_another(self, row: _Row, source: Lossless) -> bool:
        """Whether the id was converted from the old id of another row."""
        if self._looked_up == _MOST_LOOKED_UP:
            return False
        self._looked_up += 1
        try:
            old = self._scheme.convert(self._scheme.from_trusted(row.number), to=source.old)
        except (InvalidID, OutOfRange):
            return False
        same = self._target.rows.filter(**{source.field.name: old.value}).exclude(pk=row.pk)
        return old.lossless and same.exists()

    def _shown(self, row: _Row) -> str:
        source, value = self._target.source, self._scheme.from_trusted(row.number)
        return (
            f"{row.pk} ({source.field.name} {source.shown_place(row.place)}) has "
            f"{self._scheme.format(value)}, of {_time(row.start).isoformat()}"
        )

    def _was_cut(self, end: Row) -> bool:
        """Whether the time of the run's last row has lost digits since, as in a column that now
        keeps fewer of them. Then times that are equal now may have been different in the run."""
        target, at = self._target, self._target.source.at
        now = target.first(target.rows.filter(target.source.has_shown_time, pk=end[1]))
        if now is None:
            return False
        difference = _microseconds(at(end[0])) - _microseconds(at(now[0]))
        return 0 < abs(difference) < _SECOND // MICROSECOND


def _microseconds(at: datetime) -> int:
    return (at - UNIX_EPOCH) // MICROSECOND


def _time(microseconds: int) -> datetime:
    """The nearest time that Python can represent."""
    try:
        return UNIX_EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


class Form:
    """Reads the stored values of pages, and adds those that are no ids to ``found``."""

    def __init__(self, target: Target, found: Verification) -> None:
        self._target, self._found = target, found
        self._scheme, self._field = target.field.scheme, target.field
        self._connection = connections[target.using]
        self._storage = target.field.stored(self._connection)
        self._times = self._scheme if isinstance(self._scheme, TimeScheme) else None

    def read(self, page: Page) -> list[Read | None]:
        """Each id; None for rows without one, and for values that are no ids of the scheme, which
        are counted."""
        found, given = self._found, [row[2] for row in page if row[2] is not None]
        found.rows += len(page)
        found.missing += len(page) - len(given)
        try:
            numbers = list(map(self._storage.from_db, given))
            written = (
                given if self._is_native else self._storage.all_to_db(numbers, self._connection)
            )
            is_clean = written == given
        except _READ_ERRORS:
            is_clean = False
        if is_clean and len(given) == len(page):
            if self._times:
                parts = self._times.layout.split_all(numbers)
                if None not in parts:
                    return list(zip(numbers, parts, strict=True))
            return [self._of_scheme(row, number) for row, number in zip(page, numbers, strict=True)]
        return [None if row[2] is None else self._read(row) for row in page]

    @property
    def _is_native(self) -> bool:
        """Whether the type of the column has one form of each value."""
        is_uuid = isinstance(self._storage, UUIDStorage)
        return is_uuid and self._connection.features.has_native_uuid_field

    def _read(self, row: tuple[Any, Any, Any]) -> Read | None:
        stored = row[2]
        try:
            number = self._storage.from_db(stored)
            if self._is_native or self._storage.to_db(number, self._connection) == stored:
                return self._of_scheme(row, number)
        except _READ_ERRORS:
            pass
        self._malformed(row)
        return None

    def _of_scheme(self, row: tuple[Any, Any, Any], number: int) -> Read | None:
        """The id of a number, if it is one of the scheme's; others are counted."""
        times = self._times
        if times is None:
            if self._scheme.holds(number):
                return number, number
            self._malformed(row)
            return None
        parts = times.layout.split(number)
        if parts is not None:
            return number, parts
        if self._scheme.value_type is not UUID:
            self._malformed(row)
        elif self._field.accept_other_versions and self._scheme.holds(number):
            self._found.other_versions += 1
        else:
            shown = f"{row[1]} has {UUID(int=number)}"
            self._found.keep("refused_versions", f"{shown}; {self._mending(row[1], None)}")
        return None

    def _malformed(self, row: tuple[Any, Any, Any]) -> None:
        """Count a stored value that is no id, or another spelling of one."""
        pk, stored = row[1:]
        value = bytes(stored) if isinstance(stored, memoryview) else stored
        try:
            meant = self._field.to_python(value.strip())
        except (ValidationError, *_READ_ERRORS):
            meant = None
        shown = f"{pk} has {value!r}, which is not stored as a {self._scheme.title}"
        self._found.keep("malformed", f"{shown}; {self._mending(pk, meant)}")

    def _mending(self, pk: Any, value: Any) -> str:
        """The statement that corrects a row: by another spelling, or by None for the next run."""
        rows = f"{self._target.model.__name__}._base_manager.filter(pk={pk!r})"
        return f"{rows}.update({self._field.name}={value!r})"
