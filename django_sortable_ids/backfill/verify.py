"""Checks that every row has an id of its own, of its time and in its order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connections, models
from django.db.models import Count, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery

from ..db import tables
from ..errors import BackfillError
from ..fields.storage import UUIDStorage
from ..fields.times import aware
from ..functions.time_columns import TextColumn
from ..schemes import InvalidID, OutOfRange, TimeScheme
from ..schemes.clock_and_randomness import MICROSECOND, UNIX_EPOCH, unix_ns
from .batch import Cursor
from .engines import engine_of
from .sources.id_column import last_run, same_options
from .sources.periods import Unsourced
from .sources.target import Target
from .verification import EXAMPLES, SHARE, Page, StoredID, Verification

if TYPE_CHECKING:
    from .sources.conversion import Lossless
    from .sources.originals import Originals


def verify(
    target: Target,
    progress: Callable[[int], None] = lambda _: None,
    most: float = SHARE,
    shown: int = EXAMPLES,
) -> Verification:
    """Read every row once, page by page; memory doesn't grow with the table.

    ``progress`` gets the number of rows of each page. Up to ``most`` of 100 ids may be of another
    time. ``shown`` rows of each kind are examples. Raises ``BackfillError`` if the user can't see
    every row.
    """
    refuse_hidden_rows(target)
    result = Verification(most=most, expected=target.source.expected, shown=shown)
    try:
        engine_of(target.using).check_table(target)
    except BackfillError as error:
        if not isinstance(target.source.times, TextColumn):
            raise
        result.notes.append(str(error).removesuffix("; nothing was written."))
    run = last_run(target.label, target.using)
    if run and not same_options(run, target):
        run = None
    checker, source = Checker(target, result, run.ids_since if run else None), target.source
    parts = [(target.rows, False)]
    if cursor := Cursor.load(target, run.cursor) if run else None:
        reached, rest = source.until(*cursor.row), source.after(*cursor.row)
        parts = [(target.rows.filter(reached), True), (target.rows.filter(rest), False)]
    for part, is_of_run in parts:
        for page in target.pages(part, raw_id(target)):
            ids = checker.ids_of(page)
            source.compare(checker, page, ids, is_of_run=is_of_run)
            progress(len(page))
    keyed = Target(target.field, Unsourced.of(target.model, target.using))
    has_no_time = Q(**{f"{source.field.name}__isnull": True}) | ~source.has_shown_time
    for page in keyed.pages(source.outer_rows.filter(has_no_time), raw_id(target)):
        ids = checker.ids_of(page)
        result.without_time += len(ids) - ids.count(None)
        progress(len(page))
    result.skipped = target.skipped.count()
    result.missing -= result.skipped
    field, connection = target.field, connections[target.using]
    table, column = target.model._meta.db_table, str(field.column)
    if checker.is_unique or tables.is_unique(connection, table, column):
        return result
    # In one statement, since rows are inserted concurrently.
    rows: QuerySet[Any] = target.rows.filter(**{f"{field.name}__isnull": False}).order_by()
    counts = rows.aggregate(all=Count(field.name), different=Count(field.name, distinct=True))
    result.duplicates = counts["all"] - counts["different"]
    if result.duplicates:
        by_id = rows.values(sortable_ids_id=raw_id(target)).annotate(rows=Count("*"))
        shared = by_id.filter(rows__gt=1)[: result.shown]
        result.examples_of["duplicates"] = [
            f"{row['sortable_ids_id']} is the id of {row['rows']} rows" for row in shared
        ]
    return result


def compare(target: Target, source: Originals, shown: int = EXAMPLES) -> Verification:
    """Compare the id of every history row with that of its original.

    Raises ``BackfillError`` if the user can't see every row.
    """
    refuse_hidden_rows(target)
    name, key = target.field.name, source.field.attname
    of_original = source.originals.filter(pk=OuterRef(key)).values(name)[:1]
    rows = target.rows.annotate(sortable_ids_original=Subquery(of_original))
    with_id = rows.filter(**{f"{name}__isnull": False})
    # The original of a deleted row is NULL, and equal to nothing.
    differ = with_id.exclude(**{name: F("sortable_ids_original")})
    gone = with_id.filter(sortable_ids_original__isnull=True).order_by()
    ids = gone.values(key).annotate(ids=Count(name, distinct=True)).filter(ids__gt=1)
    examples = differ.order_by("pk").values_list("pk", flat=True)[:shown]
    return Verification(
        rows=target.rows.count(),
        missing=target.without_id.count(),
        not_of_original=differ.count(),
        split=ids.count(),
        all_well="each has the id of its original",
        examples_of={"not_of_original": [f"{pk}" for pk in examples]},
    )


def refuse_hidden_rows(target: Target) -> None:
    """Raise ``BackfillError`` if row-level security may hide rows from the user."""
    connection = connections[target.using]
    for model in target.source.read_models:
        table = model._meta.db_table
        if tables.may_hide_rows(connection, table):
            raise BackfillError(
                f"row-level security of {table} may hide rows from the user of the database "
                f"{target.using!r}, so not every row can be verified: use the owner of the table, "
                f"or a role with BYPASSRLS"
            )


def raw_id(target: Target) -> Any:
    """The id as the driver returns it."""
    return ExpressionWrapper(F(target.field.name), output_field=models.Field())


_READ_ERRORS = (ValueError, TypeError, AttributeError, OverflowError)
"""Raised for a stored value, of any type, that is no id."""
_MOST_LOOKED_UP = 200
"""At most this many converted ids are compared with the old ids of other rows."""


class Checker:
    """Adds the rows of all pages, which follow each other, to ``result``."""

    def __init__(self, target: Target, result: Verification, ids_since: datetime | None) -> None:
        """From ``ids_since`` on, the application generated ids as well."""
        self._target, self.result = target, result
        self._scheme, self._connection = target.field.scheme, connections[target.using]
        self._storage = target.field.stored(self._connection)
        is_uuid = isinstance(self._storage, UUIDStorage)
        self._is_native = is_uuid and self._connection.features.has_native_uuid_field
        """Whether the type of the column has one form of each value."""
        self._times = self._scheme if isinstance(self._scheme, TimeScheme) else None
        source, expected = target.source, result.expected
        self._shared = None if ids_since is None else unix_ns(aware(ids_since)) // 1000
        self._resolution = source.times.resolution // MICROSECOND if source.times else 0
        self._previous: tuple[Any, Any, Any] | None = None
        """Key, place, and tick and suffix of the last row whose order counts."""
        self._looked_up = 0
        self._earlier = expected.earlier // MICROSECOND
        self._later = expected.later // MICROSECOND
        self._length = self._times.tick_ns // 1000 if self._times else 0
        # A late row gets the next number of a sequence.
        is_exact = source.times is None or self._length <= self._resolution
        result.is_decided = self._times is not None and is_exact
        if self._times is None:
            result.expected = replace(expected, about_times="")
        if not expected.about_times:
            result.is_decided = False
            result.notes.append(
                "no source of their times is known (name one by --created-from), so only form, "
                "uniqueness and the order of numbered keys were checked"
            )

    @property
    def is_unique(self) -> bool:
        """Whether the order shows that no two ids are equal."""
        return self.result.judged == self.result.with_id and not self.result.unordered

    def ids_of(self, page: Page) -> list[StoredID | None]:
        """Each id; None for rows without one, and for values that are no ids, which are counted."""
        result, values = self.result, [row[2] for row in page if row[2] is not None]
        result.rows += len(page)
        result.missing += len(page) - len(values)
        try:
            numbers = list(map(self._storage.from_db, values))
            written = (
                values if self._is_native else self._storage.all_to_db(numbers, self._connection)
            )
            is_clean = written == values
        except _READ_ERRORS:
            is_clean = False
        if is_clean and len(values) == len(page):
            if self._times:
                parts = self._times.layout.split_all(numbers)
                if None not in parts:
                    return list(zip(numbers, parts, strict=True))
            return [self._of_scheme(row, number) for row, number in zip(page, numbers, strict=True)]
        return [None if row[2] is None else self._id_of(row) for row in page]

    def _id_of(self, row: tuple[Any, Any, Any]) -> StoredID | None:
        stored = row[2]
        try:
            number = self._storage.from_db(stored)
            if self._is_native or self._storage.to_db(number, self._connection) == stored:
                return self._of_scheme(row, number)
        except _READ_ERRORS:
            pass
        self._malformed(row)
        return None

    def _of_scheme(self, row: tuple[Any, Any, Any], number: int) -> StoredID | None:
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
        elif self._target.field.accept_other_versions and self._scheme.holds(number):
            self.result.other_versions += 1
        else:
            shown = f"{row[1]} has {UUID(int=number)}"
            self.result.count("refused_versions", f"{shown}; {self._mending(row[1], None)}")
        return None

    def _malformed(self, row: tuple[Any, Any, Any]) -> None:
        """Count a stored value that is no id, or another spelling of one."""
        pk, stored = row[1:]
        value = bytes(stored) if isinstance(stored, memoryview) else stored
        try:
            meant = self._target.field.to_python(value.strip())
        except (ValidationError, *_READ_ERRORS):
            meant = None
        shown = f"{pk} has {value!r}, which is not stored as {self._scheme.title}"
        self.result.count("malformed", f"{shown}; {self._mending(pk, meant)}")

    def _mending(self, pk: Any, value: Any) -> str:
        """The statement that corrects a row: by another spelling, or by None for the next run."""
        if value is None and self._target.field in self._target.model._meta.pk_fields:
            return "give the row another key, or delete it"
        rows = f"{self._target.model.__name__}._base_manager.filter(pk={pk!r})"
        return f"{rows}.update({self._target.field.name}={value!r})"

    def compare_times(self, page: Page, ids: Sequence[StoredID | None], *, is_of_run: bool) -> None:
        """Compare each id with the time of its row, and those of the run with their order."""
        times, shared = self._times, self._shared
        if times is None:
            for (place, pk, _), stored_id in zip(page, ids, strict=True):
                if stored_id is not None and is_of_run:
                    self._check_order(pk, place, stored_id[1])
            return
        epoch, length = times.epoch_ns, times.tick_ns
        since_1970: Sequence[int | None]
        try:
            since_1970 = list(self._target.source.microseconds(row[0] for row in page))
        except (BackfillError, InvalidID, OutOfRange):
            since_1970 = [self._since(row) for row in page]
        for row, stored_id, since in zip(page, ids, since_1970, strict=True):
            if stored_id is None or since is None:
                continue
            is_exact = is_of_run and (shared is None or since < shared)
            if stored_id[1][0] != (since * 1000 - epoch) // length:
                self._differs(row, stored_id, since, is_exact=is_exact)
            elif is_exact:
                self._check_order(row[1], row[0], stored_id[1])

    def _since(self, row: tuple[Any, Any, Any]) -> int | None:
        """The time of a row; None if it is not readable, which is counted."""
        place, pk, value = row
        try:
            return next(self._target.source.microseconds([place]))
        except BackfillError as error:
            self.result.count("unreadable", f"{pk}: {error}")
        except (InvalidID, OutOfRange):
            if value is not None:
                self.result.not_of_run += 1  # no backfill writes an id for such an old one
        return None

    def check_converted(self, page: Page, ids: Sequence[StoredID | None], source: Lossless) -> None:
        to_int, new = self._scheme.to_int, self._scheme
        for row, stored_id in zip(page, ids, strict=True):
            if stored_id is None:
                continue
            old, *_ = row
            try:
                if to_int(source.old.convert(old, to=new).value) == stored_id[0]:
                    continue
                since = unix_ns(source.at(old)) // 1000
            except (InvalidID, OutOfRange):
                self.result.not_of_run += 1
                continue
            is_of_another = self._is_of_another(stored_id[0], source)
            self._differs(row, stored_id, since, is_exact=False, is_of_another=is_of_another)

    def check_numbered(self, page: Page, ids: Sequence[StoredID | None]) -> None:
        """The application's ids ascend with a numbered key, but for a minute."""
        times = self._times
        if times is None:
            return
        slack = -(-self._earlier * 1000 // times.tick_ns)
        for (place, pk, _), stored_id in zip(page, ids, strict=True):
            if stored_id is None:
                continue
            parts = stored_id[1]
            if self._previous and parts[0] < self._previous[2] - slack:
                before = self._previous[0]
                example = f"{pk} comes after {before}, but its id is of an earlier time"
                self.result.count("unordered", example)
            else:
                latest = self._previous[2] if self._previous else parts[0]
                self._previous = (pk, place, max(parts[0], latest))

    def _check_order(self, pk: Any, place: Any, parts: Any) -> None:
        result, previous, source = self.result, self._previous, self._target.source
        if previous is not None and parts <= previous[2]:
            # On SQLite, a time in another spelling may sort after a later one.
            if source.times and source.at(place) < source.at(previous[1]):
                return
            result.count("unordered", f"{pk} comes after {previous[0]}, but its id does not")
        result.judged += 1
        self._previous = (pk, place, parts)

    def _differs(
        self,
        row: tuple[Any, Any, Any],
        stored_id: StoredID,
        since: int,
        *,
        is_exact: bool,
        is_of_another: bool = False,
    ) -> None:
        """Count a row whose id is not of its tick; ``since`` is the time of the row."""
        times, result = self._times, self.result
        assert times is not None
        tick = (since * 1000 - times.epoch_ns) // times.tick_ns
        if not times.layout.first_tick <= tick <= times.layout.last_tick:
            result.without_time += 1
            return
        start = (stored_id[1][0] * times.tick_ns + times.epoch_ns) // 1000
        late, early = start - since, since - start - self._length
        earlier, later = self._earlier, self._later
        source, (place, pk, _) = self._target.source, row
        if is_exact and source.times:
            earlier = later = self._resolution
        if late <= later and early <= earlier and not is_of_another:
            result.not_of_run += 1
            return
        text = self._scheme.format(self._scheme.from_trusted(stored_id[0]))
        shown = f"{source.field.name} {source.shown_place(place)}"
        result.count("other_time", f"{pk} ({shown}) has {text}, of {_time(start).isoformat()}")

    def _is_of_another(self, number: int, source: Lossless) -> bool:
        """Whether the id was converted from the old id of another row."""
        if self._looked_up == _MOST_LOOKED_UP:
            return False
        self._looked_up += 1
        try:
            old = self._scheme.convert(self._scheme.from_trusted(number), to=source.old)
        except (InvalidID, OutOfRange):
            return False
        other_rows = self._target.rows.filter(**{source.field.name: old.value})
        return old.lossless and other_rows.exists()


def _time(microseconds: int) -> datetime:
    """The nearest time that Python can represent."""
    try:
        return UNIX_EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)
