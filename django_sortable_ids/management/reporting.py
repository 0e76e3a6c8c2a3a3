"""The report of every sortable id of the project, with what a filled column still needs; and the
progress of backfills, for another terminal and for the admin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from django.apps import apps
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models, router
from django.db.utils import InterfaceError, OperationalError

from ..backfill.owner import is_alive, silence
from ..backfill.pace import percent, share
from ..backfill.sources.columns import times_of_creation
from ..backfill.sources.conversion import names_with_times
from ..backfill.sources.find import of_run
from ..backfill.sources.id_column import find_field, last_run, require_table
from ..backfill.sources.target import POLICIES, database_option
from ..db import tables
from ..db.errors import is_denied
from ..db.tables import may_be_null
from ..db.transactions import session_limits
from ..errors import BackfillError, counted, minutes, reading_migrations
from ..fields import SortableIDField, history_models
from ..fields.of_model import is_unique_alone, is_unique_with_others
from ..migrating.unrecorded import pending_apps
from ..models import BackfillRun
from ..primary_keys.changes.moved import MAP, NEW_KEY
from ..schema.constraints import add_column
from ..schema.stored_values import misfit, values_of


@dataclass(frozen=True, slots=True)
class Entry:
    field: SortableIDField
    using: str
    rows: int | None
    """None for a view, and where the table or its column doesn't exist yet or can't be read."""
    missing: int
    state: str
    next_step: str = ""
    """The command that comes next, without ``manage.py``."""
    has_table: bool = True
    choices: Sequence[str] | None = None
    """The commands among which a person has to choose; None if ``next_step`` is complete."""

    def document(self) -> dict[str, Any]:
        step = self.next_step if self.choices is None else ""
        return {
            "field": str(self.field),
            "database": self.using,
            "scheme": self.field.scheme.name,
            "rows": self.rows,
            "rows_without_id": self.missing,
            "state": self.state,
            "next": f"manage.py {step}" if step else None,
            "choices": [f"manage.py {choice}" for choice in self.choices or ()],
        }


def entries(using: str) -> Iterator[Entry]:
    @cache
    def pending() -> set[str]:
        with reading_migrations():
            return pending_apps(connections[using])

    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        if meta.proxy or not router.allow_migrate_model(using, model):
            continue
        for field in meta.local_fields:
            if isinstance(field, SortableIDField):
                yield _entry(field, using, pending)


def databases() -> list[str]:
    """The default database; with routers, all databases but mirrors and an empty default."""
    if not settings.DATABASE_ROUTERS:
        return [DEFAULT_DB_ALIAS]
    named = (database for database in connections.all() if database.vendor != "unknown")
    return [database.alias for database in named if not database.settings_dict["TEST"]["MIRROR"]]


def look(*using: str) -> tuple[list[Entry], dict[str, str]]:
    """The entries of these databases, and the errors of those that don't answer. If there is only
    one, its error is raised."""
    reported: list[Entry] = []
    unanswered: dict[str, str] = {}
    for alias in using:
        try:
            with session_limits(alias):
                listed = list(entries(alias))
        except (OperationalError, InterfaceError) as error:
            if len(using) == 1:
                raise
            unanswered[alias] = str(error).strip()
            continue
        for entry in listed:
            # Routers often have no opinion on a table.
            home = router.db_for_write(entry.field.model)
            if len(using) == 1 or entry.has_table or home == alias:
                reported.append(entry)
    return reported, unanswered


def lines(reported: list[Entry], unanswered: dict[str, str], using: list[str]) -> Iterator[str]:
    """The result of ``look`` as text, with a column of the databases if they are several."""
    head = ("field", "database", "scheme", "rows", "state", "next: manage.py ...")
    table: list[tuple[str, ...]] = [head]
    for entry in reported:
        rows = "" if entry.rows is None else f"{entry.rows:,}"
        scheme = entry.field.scheme.name
        table.append((str(entry.field), entry.using, scheme, rows, entry.state, entry.next_step))
    if len(table) == 1 and not unanswered:
        where = f" of the database {using[0]!r}" if using != databases() else ""
        yield f"No model{where} has a sortable id: add a field of django_sortable_ids.fields."
        return
    if len(using) == 1:
        table = [(name, *rest) for name, _, *rest in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for alias, error in unanswered.items():
        yield f"{alias} does not answer: {error}".strip()


def _entry(field: SortableIDField, using: str, pending: Callable[[], set[str]]) -> Entry:
    connection, meta = connections[using], field.model._meta
    table, database = meta.db_table, database_option(using)
    try:
        kind = tables.kind(connection, table)
        if kind == "view":
            return Entry(field, using, None, 0, "view")
        if kind is None or not tables.has_column(connection, table, str(field.column)):
            if meta.managed and meta.app_label in pending():
                step = f"migrate {meta.app_label}{database}"
            elif meta.managed:
                # makemigrations may find no change of the models: then somebody dropped it.
                step = f"makemigrations {meta.app_label}"
            else:
                step = f"dbshell{database}: {add_column(field, connection)}" if kind else ""
            state = "no column" if kind else "no table"
            return Entry(field, using, None, 0, state, step, has_table=kind is not None)
        all_rows: models.QuerySet[models.Model] = models.QuerySet(field.model, using=using)
        missing = all_rows.filter(**{f"{field.name}__isnull": True}).count()
        rows = all_rows.count()
        what, step, choices = _fill(field, using) if missing else ("", "", None)
        needs = ""
        is_copy = history_models.is_copy(field)
        if not missing and not is_copy:
            needs, step = _needs(field, using, pending)
    except (DatabaseError, ValueError) as error:  # Django can't query every name of a table.
        if isinstance(error, OperationalError) and not is_denied(error):
            raise
        return Entry(field, using, None, 0, f"can't be read: {' '.join(str(error).split())}")
    state = f"{missing:,} {what}" if missing else f"needs {needs}" if needs else "complete"
    if tables.may_hide_rows(connection, table):
        state = f"{missing:,} missing of those that row-level security shows"
    elif is_copy:
        state = f"history, {state}" if missing else "complete history"
    return Entry(field, using, rows, missing, state, step, choices=choices)


def _fill(field: SortableIDField, using: str) -> tuple[str, str, Sequence[str] | None]:
    """The state of the rows without an id, the command that fills them, and its choices."""
    start, end = f"backfill_ids {field}", database_option(using)
    if history_models.is_copy(field):
        return "missing", f"{start}{end}", None
    has_runs = tables.kind(connections[using], BackfillRun._meta.db_table)
    run = last_run(str(field), using) if has_runs else None
    if run and run.finished_at and "skip" in run.options.get(POLICIES, {}).values():
        with suppress(BackfillError):  # The field of its times may be gone.
            target = of_run(run.options, field.model, field, using)
            if not target.missing.exists():
                # Only a person can correct a time that is out of range.
                option = "--on-null=now" if target.skipped_without_time.exists() else "--verify"
                return "skipped", f"{start} {option}{end}", None
    if run:
        return "missing", f"{start}{end}", None
    times = times_of_creation(field.model)
    dated = [] if times else names_with_times(field, using)
    start += " --convert-from" if dated else " --created-from"
    choices = [f"{start} {name}{end}" for name in times or dated]
    if len(choices) == 1:
        return "missing", choices[0], None
    # A shell that gets this line verbatim executes nothing.
    name = f"({' or '.join(times or dated)})" if choices else "'?'"
    return "missing", f"{start} {name}{end}", choices


def _needs(field: SortableIDField, using: str, pending: Callable[[], set[str]]) -> tuple[str, str]:
    """What a filled column needs, and the command for it; two empty texts for a complete one."""
    connection, meta = connections[using], field.model._meta
    table, column, database = meta.db_table, str(field.column), database_option(using)
    if misfit(values_of(field, connection), field, connection):
        needs, step = f"ids of {field.scheme.title}", f"check --database {using}"
    elif field in meta.pk_fields:
        return "", ""
    else:
        can_add = meta.managed or connection.vendor != "sqlite"
        is_unique = is_unique_with_others(field)
        if is_unique_alone(field):
            is_unique = tables.is_unique(connection, table, column)
        lacking = {
            "NOT NULL": field.null or (can_add and may_be_null(connection, table, column)),
            "unique": not is_unique,
        }
        needs = " and ".join(what for what, is_lacking in lacking.items() if is_lacking)
        step = f"backfill_ids {field} --verify{database}"
    if not needs:
        return "", ""
    is_next = meta.app_label in pending()
    return needs, f"migrate {meta.app_label}{database}" if is_next else step


@dataclass(frozen=True, slots=True)
class Status:
    run: BackfillRun

    def lines(self) -> Iterator[str]:
        run, left = self.run, self.seconds_left
        if run.finished_at is not None:
            yield f"{run.target}: finished at {run.finished_at:%Y-%m-%d %H:%M:%S %Z}".rstrip()
            yield f"  {counted(run.rows_filled, 'row')}"
        else:
            last = f"last heartbeat {silence(run):.1f} s ago"
            yield f"{run.target}: {self.state}, {run.owner}, {last}"
            pace = "" if left is None else f"  {run.rate:,.0f}/s  {minutes(left)} left"
            done = share(run.rows_filled, self.rows_planned).strip()
            yield f"  {done}{pace}  batches of {run.batch_size:,}"
        if run.last_error:
            yield f"  last error: {run.last_error}"
        if self.state == "stopped" and not self.is_left_over:
            yield f"  continue with: {self.command}"
        if self.is_left_over:
            yield f"  the field no longer exists: delete the row of {run._meta.db_table}"

    def document(self) -> dict[str, Any]:
        run, left = self.run, self.seconds_left
        return {
            "field": run.target,
            "field_exists": self.has_field,
            "state": self.state,
            "owner": run.owner,
            "seconds_since_last_sign": round(silence(run), 1) if run.heartbeat else None,
            "rows_filled": run.rows_filled,
            "rows_planned": self.rows_planned,
            "percent": percent(run.rows_filled, self.rows_planned),
            "rows_per_second": round(run.rate, 1) if is_alive(run) else None,
            "seconds_left": None if left is None else round(left, 1),
            "batch_size": run.batch_size,
            "last_error": run.last_error or None,
            "started_at": run.started_at,
            "updated_at": run.updated_at,
            "finished_at": run.finished_at,
        }

    @property
    def has_field(self) -> bool:
        """Whether a model of the project still has the field."""
        try:
            app, model, name = self.run.target.split(".")
            field = apps.get_model(app, model)._meta.get_field(name)
        except (LookupError, ValueError, FieldDoesNotExist):
            return False
        return isinstance(field, SortableIDField)

    @property
    def is_left_over(self) -> bool:
        """Whether its field no longer exists, and it doesn't fill the map of a key that moves."""
        return not self.has_field and not self.run.target.endswith(f"{MAP}.{NEW_KEY}")

    @property
    def state(self) -> Literal["finished", "running", "stopped"]:
        if self.run.finished_at is not None:
            return "finished"
        return "running" if is_alive(self.run) else "stopped"

    @property
    def command(self) -> str:
        """The command that resumes the run with its sources; ``migrate`` if a move fills it."""
        name = f"backfill_ids {self.run.target}" if self.has_field else "migrate"
        return f"manage.py {name}{database_option(self.run._state.db or DEFAULT_DB_ALIAS)}"

    @property
    def rows_planned(self) -> int:
        """How many rows will be filled at the end; an estimate until then."""
        return max(self.run.rows_planned, self.run.rows_filled)

    @property
    def seconds_left(self) -> float | None:
        """None if it doesn't run, or has no rate yet."""
        run = self.run
        if not run.rate or not is_alive(run):
            return None
        return (self.rows_planned - run.rows_filled) / run.rate


def statuses(using: str, target: str | None = None) -> list[Status]:
    """The backfills of a database, also those that a move of keys has started; with
    ``app.Model.field``, only the one of this field.

    Raises ``BackfillError`` if the database has no table of runs, and errors of the database.
    """
    require_table(BackfillRun, using)
    rows = BackfillRun.objects.using(using).order_by("target")
    if target is not None:
        rows = rows.filter(target=str(find_field(target)[1]))
    return list(map(Status, rows))
