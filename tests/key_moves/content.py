"""What the database contains, read without the package: every row as it is, and every row with the
mark of another one where it has the key of that."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models

from .database import state

_OWN = ("django_migrations", "django_sortable_ids_", "sqlite_")
_GENERIC = {"graph_comment": "object_id", "django_admin_log": "object_id"}
Row = dict[str, Any]
Dump = dict[str, list[Row]]
"""The rows of each table and view."""


def dump() -> Dump:
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_list(cursor)
        names = [each.name for each in found if not each.name.startswith(_OWN)]
        return {name: list(_rows(cursor, name)) for name in sorted(names)}


def _rows(cursor: Any, table: str) -> Iterator[Row]:
    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
    names = [each[0] for each in cursor.description]
    for row in cursor.fetchall():
        values = (bytes(each) if isinstance(each, memoryview) else each for each in row)
        yield dict(zip(names, values, strict=True))


def content(found: Dump) -> Dump:
    """The rows with marks in the place of keys, without the keys that move."""
    moved = {model._meta.db_table for model in moved_models()}
    places = dict(references())
    marks = {
        place: {row[place[1]]: row["mark"] for row in found[place[0]]}
        for place in set(places.values())
    }
    texts = _marks_by_text()

    def marked(table: str, column: str, value: Any, row: Row) -> Any:
        if _GENERIC.get(table) == column:
            return texts.get((row["content_type_id"], value), value)
        place = places.get((table, column))
        # A reference to no row fails here.
        return value if place is None or value is None else ("row", marks[place][value])

    return {
        table: [
            {
                column: marked(table, column, value, row)
                for column, value in row.items()
                if table not in moved or column not in ("id", "old_id")
            }
            for row in rows
        ]
        for table, rows in found.items()
    }


def differences(before: Dump, after: Dump) -> list[str]:
    """Rows that only one of them has."""
    problems = []
    for table in sorted({*before, *after}):
        old, new = (Counter(map(_text, each.get(table, ()))) for each in (before, after))
        problems += [f"{table} lost {each}" for each in old - new]
        problems += [f"{table} got {each}" for each in new - old]
    return problems


def _text(row: Row) -> str:
    return repr(sorted(row.items()))


def moved_models() -> list[type[models.Model]]:
    found = apps.get_app_config("graph").get_models()
    return [
        model for model in found if "old_id" in {each.name for each in model._meta.local_fields}
    ]


def references() -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Each column of a foreign key, and the column with the value that it has in the end."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_concrete_fields:
            target = field
            while target.remote_field:
                target = target.target_field
            if target is not field and target.model._meta.app_label == "graph":
                yield (
                    (model._meta.db_table, field.column),
                    (
                        target.model._meta.db_table,
                        target.column,
                    ),
                )


def _marks_by_text() -> dict[tuple[int, str], int]:
    """The mark of each row, by its content type and the text of its key."""
    present = state()
    found = {}
    for kind in ContentType.objects.filter(app_label="graph"):
        rows = present.get_model("graph", kind.model).objects.values_list("pk", "mark")
        found |= {(kind.pk, str(pk)): mark for pk, mark in rows}
    return found


def none(problems: Iterable[str]) -> None:
    """Raise ``AssertionError`` with all problems, if there are any."""
    if found := list(problems):
        raise AssertionError("\n".join(found))
