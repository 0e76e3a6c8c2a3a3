"""Looks into the tables for keys that no foreign key declares."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from ...db import tables
from ...db.queries import rows
from ..changes import Change, Key
from .finding import Finding
from .names import Names

_READ = 1000
"""Rows of a table from which the values are taken."""
_VALUES = 50
_DOCUMENTS = 20
_OWN = ("django_sortable_ids_", "django_migrations", "django_content_type", "sqlite_", "moving__")
_NUMBERS = ("int", "serial", "numeric", "decimal")
_TEXTS = ("char", "text", "json")


def found(connection: Any, change: Change, names: Names) -> Iterator[Finding]:
    """Columns of numbers and texts that are named like references, unless none of their values is
    a key; and keys in JSON. Reads a few rows of each table."""
    known = {(each.name, name) for each in change.tables for name, _ in each.values}
    known |= {(each.table, each.column) for each in change.texts}
    known |= set(_relations())
    for table in _tables(connection):
        for column in tables.columns(connection, table).values():
            if (table, column.name) not in known:
                look = _Column(connection, table, column.name, column.kind.lower())
                yield from look.references(change, names)
                yield from look.documents(names)


def _tables(connection: Any) -> list[str]:
    """All tables, and the views of models."""
    with connection.cursor() as cursor:
        found = set(connection.introspection.table_names(cursor))
    modelled = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    found |= {each for each in modelled - found if tables.kind(connection, each)}
    return sorted(each for each in found if not each.startswith(_OWN))


def _relations() -> Iterator[tuple[str, str]]:
    """The columns that models declare as references or primary keys."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_concrete_fields:
            if field.remote_field is not None or field.primary_key:
                yield model._meta.db_table, str(field.column)


class _Column:
    def __init__(self, connection: Any, table: str, name: str, kind: str) -> None:
        self._connection = connection
        self._table = table
        self._name = name
        self._kind = kind

    def references(self, change: Change, names: Names) -> Iterator[Finding]:
        if not any(each in self._kind for each in (*_NUMBERS, *_TEXTS, "uuid")):
            return
        is_several = names.is_several(self._name)
        is_key = names.is_key(self._name) is True
        if not is_key and not is_several and names.is_moved(self._name) is not True:
            return
        values = self._values(_VALUES)
        if is_several and values:
            yield self._finding("column", f"several keys, such as {str(values[0])[:60]}")
        elif not is_several and (key := self._key_of(values, change, is_sure=is_key)):
            label, count = key
            text = f"{count} of {len(values)} values are keys of {label}" if count else "no values"
            yield self._finding("column", text)

    def documents(self, names: Names) -> Iterator[Finding]:
        if not any(each in self._kind for each in _TEXTS) or "varchar" in self._kind:
            return
        used = {each for text in self._values(_DOCUMENTS) for each in _keys_in(text, names)}
        if used:
            yield self._finding("document", ", ".join(sorted(used)))

    def _finding(self, kind: str, text: str) -> Finding:
        return Finding(kind, f"{self._table}.{self._name}", None, text)

    def _values(self, most: int) -> list[Any]:
        """Different values of the first rows."""
        table, name = map(self._connection.ops.quote_name, (self._table, self._name))
        as_text = f"{name}::text" if self._connection.vendor == "postgresql" else name
        sql = (
            f"SELECT DISTINCT v FROM (SELECT {as_text} AS v FROM {table} LIMIT {_READ}) t "
            f"WHERE v IS NOT NULL LIMIT {most}"
        )
        try:
            with transaction.atomic(self._connection.alias):
                return [value for (value,) in rows(self._connection, sql)]
        except DatabaseError:
            # A table that nobody may read shows nothing.
            return []

    def _key_of(
        self, values: Collection[Any], change: Change, *, is_sure: bool
    ) -> tuple[str, int] | None:
        """The label of the moved model of which most of the values are keys, and how many; None if
        too few are. ``is_sure`` says that the column is named like a key, not only like a row."""
        if not values:
            return (change.keys[0].label, 0) if is_sure else None
        counts = {each.label: self._count(values, each) for each in change.keys}
        label, count = max(counts.items(), key=itemgetter(1))
        return (label, count) if count and (is_sure or count == len(values)) else None

    def _count(self, values: Collection[Any], key: Key) -> int:
        wanted = []
        for each in values:
            try:
                wanted.append(key.before.to_python(each))
            except ValidationError:
                continue
        found: QuerySet[Any] = QuerySet(key.model, using=self._connection.alias)
        return found.filter(pk__in=wanted).count() if wanted else 0


def _keys_in(text: Any, names: Names) -> Iterator[str]:
    """The names of keys in a JSON document."""
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return
    try:
        waiting: list[tuple[str, Any]] = [("", json.loads(text))]
    except ValueError:
        return
    while waiting:
        of, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(of, each) for each in value]
        elif isinstance(value, dict):
            for name, each in value.items():
                is_key = names.is_key(name)
                if is_key or names.is_several(name) or (is_key is None and names.is_moved(of)):
                    yield f"{of}.{name}" if is_key is None else name
                waiting.append((name, each))
