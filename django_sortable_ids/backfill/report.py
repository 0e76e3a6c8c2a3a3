"""Every sortable id of the project, and what there is to do for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db import connections, models, router

from ..fields import SortableIDField
from .target import database_option


@dataclass(frozen=True, slots=True)
class Entry:
    field: SortableIDField
    using: str
    rows: int | None
    """None where there is no such table or column yet."""
    missing: int

    @property
    def label(self) -> str:
        return f"{self.field.model._meta.label}.{self.field.name}"

    @property
    def state(self) -> str:
        if self.rows is None:
            return "not migrated"
        return f"{self.missing:,} missing" if self.missing else "complete"

    @property
    def next_step(self) -> str:
        database = database_option(self.using)
        if self.rows is None:
            return f"migrate {self.field.model._meta.app_label}{database}"
        if not self.missing:
            return ""
        times = [
            each.name
            for each in self.field.model._meta.fields
            if isinstance(each, models.DateTimeField)
        ]
        source = times[0] if len(times) == 1 else "|".join(times)
        return f"backfill_ids {self.label} --created-from {source or '?'}{database}"


def entries(using: str) -> Iterator[Entry]:
    """Every sortable id whose table belongs into the database."""
    connection = connections[using]
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        if meta.proxy or not meta.managed or not router.allow_migrate_model(using, model):
            continue
        for field in meta.local_fields:
            if isinstance(field, SortableIDField):
                there = meta.db_table in tables and _has_column(field, using)
                yield _entry(field, using) if there else Entry(field, using, None, 0)


def lines(using: str) -> Iterator[str]:
    """The report, for people."""
    table = [("field", "scheme", "rows", "state", "next: manage.py ...")]
    for entry in entries(using):
        rows = "" if entry.rows is None else f"{entry.rows:,}"
        table.append((entry.label, entry.field.scheme.name, rows, entry.state, entry.next_step))
    if len(table) == 1:
        yield "No model has a sortable id yet: add a field of django_sortable_ids.fields to one."
        return
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _entry(field: SortableIDField, using: str) -> Entry:
    rows: models.QuerySet[models.Model] = models.QuerySet(field.model, using=using)
    missing = rows.filter(**{f"{field.name}__isnull": True}).count()
    return Entry(field, using, rows.count(), missing)


def _has_column(field: SortableIDField, using: str) -> bool:
    connection = connections[using]
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, field.model._meta.db_table)
    return field.column in {column.name for column in columns}
