"""The plan of a backfill: checked, counted and printable before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connections
from django.db.models import Count, Min, Q

from ..db.tables import begins_an_index, constraints, description, folded
from ..errors import BackfillError, counted, minutes
from ..fields import LexicalSequenceField, SortableIDField
from ..functions.time_columns import as_stored
from ..models import BackfillRun
from ..schema.stored_values import sorts, too_narrow
from ..schemes import TimeScheme
from .batch import Cursor, mint
from .engines import engine_of
from .sources.base import as_words
from .sources.columns import InColumn
from .sources.find import given_by, of_run
from .sources.id_column import last_run, same_options
from .sources.periods import WithoutTime
from .sources.target import POLICIES, Target, check_times
from .writer import Writer

SAMPLES = 3
LATE_ROWS_PER_SECOND = (100.0, 500.0)
"""At least and at most; two thirds of the time is Django's, for the queries of neighbours."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole backfill: ``lines`` prints it, ``run.execute`` runs it."""

    target: Target
    writer: Writer
    batch_size: int
    missing: int
    """Rows without an id, except those of ``timeless`` and those that a policy skips."""
    timeless: Writer | None
    """Gives the rows without a time ids of now, after all others."""
    without_time: int
    late: int
    """Rows of ``missing`` before the end of a finished run, which get ids between neighbours."""
    ids_since: datetime | None
    """The creation time from which the application generates ids as well; None if not queried."""
    last: BackfillRun | None
    has_ids: bool
    """Whether a row that it reached has an id. If none has, this plan starts at the first row."""
    samples: tuple[str, ...]
    """The first rows with ids of the right time; the final ids have other random bits."""
    warnings: tuple[str, ...]

    @property
    def resumed(self) -> BackfillRun | None:
        """The unfinished run that this plan continues."""
        return self.last if self.last and self.has_ids and not self.last.finished_at else None

    @property
    def filled_before(self) -> int:
        """Rows that an earlier process of the same run filled."""
        return self.resumed.rows_filled if self.resumed else 0

    @property
    def rows(self) -> int:
        return self.missing + self.without_time

    @property
    def seconds(self) -> tuple[float, float]:
        """How long the run takes at least, and at most."""
        slow, fast = engine_of(self.target.using).rows_per_second
        late_slow, late_fast = LATE_ROWS_PER_SECOND
        in_order = self.rows - self.late
        return in_order / fast + self.late / late_fast, in_order / slow + self.late / late_slow

    def lines(self, with_sql: bool = False) -> Iterator[str]:
        target = self.target
        yield f"{target.label}: {target.field.scheme.title} of {target.source.described}"
        if self.resumed:
            yield f"  continues after {counted(self.filled_before, 'row')} of an earlier run"
        yield from (f"  {note}" for note in target.source.notes)
        rows = counted(self.rows, "row")
        yield f"  {rows} without an id, up to {self.batch_size:,} in a transaction"
        order = f"in the order of ({', '.join(target.source.order)})"
        if with_sql:
            for when, statement in self.writer.shown_statements:
                yield f"  {order}{', ' if order else ''}{when}:"
                yield f"    {statement}"
                order = ""
        else:
            yield f"  {order}"
        if self.late:
            yield f"  one by one, {counted(self.late, 'row')} before the end of the last run"
        if self.timeless and self.without_time:
            last_rows = f"{counted(self.without_time, 'row')} without {target.source.field.name}"
            yield f"  at the end, {last_rows}, with ids of now{':' if with_sql else ''}"
            if with_sql:
                yield f"    {self.timeless.statements.sending_sql}"
        if kept := self.writer.statements.self_assigned:
            yield f"  keeps {', '.join(kept)}, which an UPDATE would set to the current time"
        if self.rows:
            least, most = map(minutes, self.seconds)
            yield (
                f"  takes about {least}" if least == most else f"  takes between {least} and {most}"
            )
        differs = target.source.differs
        yield from (f"  such as key {text}{differs}" for text in self.samples)
        yield from (f"  warning: {warning}" for warning in self.warnings)


def build(target: Target, batch_size: int) -> Plan:
    """Check what could stop the backfill, but for ``check_future``, and write nothing.

    Raises ``BackfillError`` for a row whose time is NULL or out of the scheme's range, for
    triggers that the target doesn't allow, and if the ids of the last run had other options.
    """
    engine, source = engine_of(target.using), target.source
    effects = engine.side_effects(target)
    if effects and not target.allow_triggers:
        raise BackfillError(
            f"filling {target.label} changes more than its ids: {'; '.join(effects)}. Disable "
            f"this during the backfill, or allow it with --allow-triggers (in a migration: "
            f"allow_triggers=True of AddSortableID); nothing was written."
        )
    warnings = [f"allowed side effect: {effect}" for effect in effects]
    last = last_run(target.label, target.using)
    run = last if last and _has_ids(target, last) else None
    missing, ids_since = _counted(target, run)
    timeless, without_time = None, 0
    if target.on_null == "now":
        timeless = Writer(WithoutTime.in_target(target), engine)
        without_time = timeless.target.missing.count()
    all_rows = missing + without_time
    if run and (all_rows or not run.finished_at):
        _check_options(target, run)
    check_writable(target, all_rows)
    writer, late = Writer(target, engine), 0
    if missing and run and run.finished_at and writer.needs_neighbours:
        cursor = Cursor.load(target, run.cursor)
        late = writer.late_rows(cursor).count() if cursor else 0
    table, column = source.field.model._meta.db_table, str(source.field.column)
    uses_index = source.order != ("pk",) and not source.needs_sort
    if uses_index and not begins_an_index(engine.connection, table, column):
        warnings.append(
            f"no index begins with {column}, so each batch sorts the table; with many rows, create "
            f"one first"
        )
    return Plan(
        target=target,
        writer=writer,
        batch_size=batch_size,
        missing=missing,
        timeless=timeless,
        without_time=without_time,
        late=late,
        ids_since=ids_since,
        last=last,
        has_ids=run is not None,
        samples=_samples(target),
        warnings=(*warnings, *source.warnings),
    )


def _counted(target: Target, run: BackfillRun | None) -> tuple[int, datetime | None]:
    """The number of rows without an id, and the creation time of the first row that already has
    one, else now: from there on, the application generates ids. After a run with the same options
    it is now: that run has recorded the time, or has generated these ids. None for targets without
    times. In one query: reading the table takes the most time."""
    now = datetime.now(UTC)
    if target.source.times is None:
        return target.missing.count(), None
    if run is not None and same_options(run, target):
        return target.missing.count(), as_stored(now)
    has_id = Q(**{f"{target.field.name}__isnull": False})
    key = target.model._meta.pk_fields[0].attname
    counts = {
        "missing": Count(key, filter=target.is_missing),
        "first": Min(target.source.selected_place, filter=has_id & target.source.has_shown_time),
    }
    result = target.rows.aggregate(**counts)
    first = now if result["first"] is None else target.source.at(result["first"])
    return result["missing"], as_stored(min(first, now))


def _has_ids(target: Target, run: BackfillRun) -> bool:
    """Whether a row that the run has reached has an id; any row, if its source or key is gone."""
    if not run.cursor:
        return False
    reached = Q()
    with suppress(BackfillError):
        before = target
        if not same_options(run, target):
            before = of_run(run.options, target.model, target.field, target.using)
        if cursor := Cursor.load(before, run.cursor):
            reached = before.source.until(*cursor.row)
    return target.rows.filter(reached).exclude(target.needs_id).exists()


def _check_options(target: Target, run: BackfillRun) -> None:
    """Raise ``BackfillError`` if the ids of the run had other options."""
    old, new = run.options, target.options
    pairs = [(as_words(given_by(old)), as_words(given_by(new)))]
    for key in sorted({*old, *new} - {POLICIES}):
        pairs.append((f"{key} = {old.get(key)!r}", f"{key} = {new.get(key)!r}"))
    for was, now in pairs:
        if was != now:
            raise BackfillError(
                f"a run on {target.label} has filled {counted(run.rows_filled, 'row')} with {was}, "
                f"and now it is {now}: the rows would not sort together. Continue with the old "
                f"options, or set the column to NULL to start again; to keep ids of both, delete "
                f"the BackfillRun"
            )


def _samples(target: Target) -> tuple[str, ...]:
    """The samples of the plan; none for a sequence, whose numbers are counted, or history rows."""
    scheme = target.field.scheme
    rows, samples = target.read(target.missing[:SAMPLES]), []
    if not rows or not isinstance(scheme, TimeScheme) or not target.source.has_samples:
        return ()
    ids = target.source.known_ids(target, rows)
    if ids is None:
        numbers, _ = mint(scheme, [target.tick(place) for place, _ in rows], None, 0)
        ids = list(scheme.all_from_trusted(numbers))
    for (place, pk), value in zip(rows, ids, strict=True):
        text = target.field.public_text.format(value)
        samples.append(f"{pk}, {target.source.shown_place(place)}: {text}")
    return tuple(samples)


def check_writable(target: Target, missing: int) -> None:
    """Raise ``BackfillError``, naming a row, if one of the ``missing`` rows can't get an id."""
    if not connections[target.using].settings_dict["AUTOCOMMIT"]:
        raise BackfillError(
            f"AUTOCOMMIT of database {target.using!r} is False, so no batch would be committed: "
            f"use settings in which it is True; nothing was written."
        )
    field = target.field
    if isinstance(field, LexicalSequenceField) and field.scheme.template.is_dated:
        raise BackfillError(
            f"{target.label} counts in periods (template={field.scheme.template.text!r}), which "
            f"backfill_ids can't: assign the numbers in your own code, with "
            f"take(1, {target.using!r}, day)[0] of the field; nothing was written."
        )
    _check_unique(target)
    _check_columns(target)
    engine = engine_of(target.using)
    engine.check_session(target)
    engine.check_table(target)
    check_times(target, missing)


def check_future(target: Target) -> None:
    """Raise ``BackfillError`` if most times are after now, as ``check --database`` would."""
    source, field = target.source, target.field
    has_own_times = isinstance(field.scheme, TimeScheme) and field.created_from is None
    if has_own_times and isinstance(source, InColumn) and (future := source.mostly_future):
        raise BackfillError(
            f"{future}, and new ids would sort before theirs. Name other times by --created-from, "
            f"or, if these are right, name them by created_from= of the field; nothing was written."
        )


def _check_unique(target: Target) -> None:
    """Raise ``BackfillError`` if rows share a key, since they are written by their keys."""
    columns = [str(field.column) for field in target.model._meta.pk_fields]
    connection = connections[target.using]
    of_key = {folded(connection, column) for column in columns}
    for constraint in constraints(connection, target.model._meta.db_table).values():
        of_index = {column and folded(connection, column) for column in constraint["columns"]}
        if (constraint["unique"] or constraint["primary_key"]) and of_index and of_index <= of_key:
            return
    # MariaDB's key of a table with system versioning contains one column more.
    names = [field.attname for field in target.model._meta.pk_fields]
    groups = target.rows.order_by().values(*names).annotate(sortable_ids_rows=Count("*"))
    if repeated := groups.filter(sortable_ids_rows__gt=1).first():
        raise BackfillError(
            f"{repeated.pop('sortable_ids_rows'):,} rows of {target.model._meta.label} have the "
            f"primary key {', '.join(map(str, repeated.values()))}, and no unique index is on "
            f"{', '.join(columns)}: set primary_key=True on the field that identifies the rows; "
            f"nothing was written."
        )


def _check_columns(target: Target) -> None:
    """Raise ``BackfillError`` for a column of new or old ids that ``check --database`` refuses."""
    connection = connections[target.using]
    for field in (target.field, target.source.field):
        if not isinstance(field, SortableIDField):
            continue
        is_narrow = False
        if connection.vendor != "sqlite":  # which has no widths
            described = description(connection, field.model._meta.db_table)
            column = described.get(folded(connection, str(field.column)))
            is_narrow = bool(column and too_narrow(connection, field.stored(connection), column))
        if is_narrow or not sorts(field, connection):
            raise BackfillError(
                f"the column of {field} can't hold all of its ids, or doesn't sort them by their "
                f"times: it may be too narrow, of another collation than C (PostgreSQL), ascii_bin "
                f"(MariaDB, MySQL) or BINARY (SQLite), or of MariaDB's type uuid, where "
                f"storage='binary' helps; nothing was written."
            )
