"""Every sortable id of the project, its state and the next step."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connections,
    models,
    router,
)

from ..backfill.sources.fields import hides_tables, names_of
from ..backfill.target import database_option
from ..db import chunks, tables
from ..db.error_codes import is_denied
from ..db.tables import Kind
from ..fields import SortableIDField, history
from ..schema import unmanaged
from . import report_needs
from .report_needs import Migrations


@dataclass(frozen=True, slots=True)
class Entry:
    field: SortableIDField
    using: str
    rows: int | None
    """None where the table or the column does not exist yet."""
    missing: int
    kind: Kind | None = "table"
    needs: str = ""
    """What is left to do although no id is missing."""
    command: str = ""
    """The command that does it."""
    error: str = ""
    """Why the table can't be read."""

    @property
    def label(self) -> str:
        return str(self.field)

    @property
    def is_migrated(self) -> bool:
        """Whether a migration creates the missing table or column."""
        return self.field.model._meta.managed and bool(self.command)

    @property
    def state(self) -> str:
        if self.error:
            return f"can't be read: {' '.join(self.error.split())}"
        if self.kind == "view":
            return "view"
        if self.rows is None:
            if self.is_migrated:
                return "not migrated"
            if self.kind:
                return "no column"
            return "no table that the user may see" if hides_tables(self.using) else "no table"
        if history.is_copy(self.field):
            return f"history, {self.missing:,} missing" if self.missing else "complete history"
        if self.missing:
            return f"{self.missing:,} missing"
        return f"needs {self.needs}" if self.needs else "complete"

    @property
    def next_step(self) -> str:
        database = database_option(self.using)
        if self.error or self.kind == "view":
            return ""
        if self.rows is None and not self.is_migrated:
            if not self.kind:
                return ""
            return f"dbshell{database}: {unmanaged.add_column(self.field, connections[self.using])}"
        if self.rows is None:
            return self.command
        if not self.missing:
            return self.command
        if history.is_copy(self.field):
            return f"backfill_ids {self.label}{database}"
        times = names_of(self.field.model, models.DateTimeField)
        source = times[0] if len(times) == 1 else "|".join(times)
        # Quoted, so that a shell that gets this line verbatim executes nothing.
        return f"backfill_ids {self.label} --created-from {shlex.quote(source or '?')}{database}"


def entries(using: str) -> Iterator[Entry]:
    """Every sortable id whose table belongs to the database."""
    migrations = Migrations(using)
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        if meta.proxy or not router.allow_migrate_model(using, model):
            continue
        for field in meta.local_fields:
            if isinstance(field, SortableIDField):
                yield _entry(field, using, migrations)


def databases() -> list[str]:
    """The databases of a report: the default one, or with routers all but mirrors of others."""
    if not settings.DATABASE_ROUTERS:
        return [DEFAULT_DB_ALIAS]
    return [each for each in connections if not connections[each].settings_dict["TEST"]["MIRROR"]]


def look(*using: str) -> tuple[list[Entry], dict[str, str]]:
    """The entries of these databases, and the errors of those that don't answer. If there is only
    one, its error is raised."""
    reported: list[Entry] = []
    unanswered: dict[str, str] = {}
    for alias in using:
        try:
            reported += [each for each in entries(alias) if len(using) == 1 or _belongs(each)]
        except (OperationalError, InterfaceError) as error:
            if len(using) == 1:
                raise
            unanswered[alias] = str(error).strip()
    return reported, unanswered


def lines(*using: str) -> Iterator[str]:
    """The report on these databases as text; with a database column where they are several."""
    head = ("field", "database", "scheme", "rows", "state", "next: manage.py ...")
    reported, unanswered = look(*using)
    table = [head, *(_cells(each) for each in reported)]
    if len(table) == 1 and not unanswered:
        yield "No model has a sortable id yet: add a field of django_sortable_ids.fields to one."
        return
    if len(using) == 1:
        table = [(name, *rest) for name, _, *rest in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for alias, error in unanswered.items():
        yield f"{alias} does not answer: {error}".strip()


def _cells(entry: Entry) -> tuple[str, ...]:
    rows = "" if entry.rows is None else f"{entry.rows:,}"
    name = entry.field.scheme.name
    return entry.label, entry.using, name, rows, entry.state, entry.next_step


def _belongs(entry: Entry) -> bool:
    """Whether the table exists or belongs there: routers often have no opinion on a table."""
    return entry.kind is not None or router.db_for_write(entry.field.model) == entry.using


def _entry(field: SortableIDField, using: str, migrations: Migrations) -> Entry:
    connection, table = connections[using], field.model._meta.db_table
    try:
        kind = tables.kind(connection, table)
        if kind != "table" or not tables.has_column(connection, table, str(field.column)):
            step = migrations.step_to(field)
            return Entry(field, using, None, 0, kind, command=step)
        rows: models.QuerySet[models.Model] = models.QuerySet(field.model, using=using)
        missing = chunks.count(rows.filter(**{f"{field.name}__isnull": True}))
        count = chunks.count(rows)
        needs, command = "", ""
        if not missing and not history.is_copy(field):
            needs, command = report_needs.needs(field, using, migrations)
    except DatabaseError as error:
        if not is_denied(error):
            raise
        return Entry(field, using, None, 0, "table", error=str(error).strip())
    return Entry(field, using, count, missing, needs=needs, command=command)
