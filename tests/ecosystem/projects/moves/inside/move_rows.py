"""Writes all rows of the database to a JSON file: as they are, and with content instead of keys.

    python move_rows.py FILE

``raw`` has the rows of each table, as text by column. ``content`` has a digest of each row, in
which counted keys, sortable ids and the columns that keep old keys are left out. Instead of a
reference, it has the digest of the row that the reference points to. ``dangling`` has the
references that point to no row.
"""

import json
import sys
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import connection, models

from django_sortable_ids.fields import SortableIDField

OWN = ("django_migrations", "django_sortable_ids_")
ROUNDS = 6
"""References that are followed, one after the other."""
Rows = list[dict[str, str | None]]


def main(file: Path) -> None:
    raw = {table: _rows(table) for table in _tables()}
    content, dangling = Content(raw).digests()
    file.write_text(json.dumps({"raw": raw, "content": content, "dangling": dangling}))


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_list(cursor)
    return sorted(each.name for each in found if each.type == "t" and not each.name.startswith(OWN))


def _rows(table: str) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
        names = [each[0] for each in cursor.description]
        return [dict(zip(names, map(_text, row), strict=True)) for row in cursor.fetchall()]


def _text(value: Any) -> str | None:
    return None if value is None else str(bytes(value) if isinstance(value, memoryview) else value)


class Content:
    """The digests of rows, whose references come from the models."""

    def __init__(self, raw: dict[str, Rows]) -> None:
        self._raw = raw
        self._left_out: dict[str, set[str]] = defaultdict(set)
        self._references: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
        self._generic: dict[str, dict[str, str]] = defaultdict(dict)
        for model in apps.get_models(include_auto_created=True):
            if model._meta.db_table in raw and not model._meta.proxy:
                self._read(model._meta)
        if apps.is_installed("django.contrib.admin"):
            self._generic["django_admin_log"]["object_id"] = "content_type_id"

    def _read(self, meta: Any) -> None:
        table = meta.db_table
        for field in meta.local_concrete_fields:
            if field.remote_field:
                target = field.target_field
                place = (target.model._meta.db_table, target.column)
                self._references[table][field.column] = place
            elif field is meta.pk and isinstance(field, models.AutoField | SortableIDField):
                self._left_out[table] |= {field.column, f"old_{field.column}"}
        for field in meta.private_fields:
            if hasattr(field, "ct_field"):
                column, kind = (
                    meta.get_field(each).column for each in (field.fk_field, field.ct_field)
                )
                self._generic[table][column] = kind

    def digests(self) -> tuple[dict[str, list[str]], list[str]]:
        own = {table: [self._own(table, row) for row in rows] for table, rows in self._raw.items()}
        digests, dangling = own, set()
        for _ in range(ROUNDS):
            by_key = self._by_key(digests)
            following: dict[str, list[str]] = {}
            for table, rows in self._raw.items():
                following[table] = []
                for row, digest in zip(rows, own[table], strict=True):
                    targets = self._targets(table, row)
                    found = [by_key.get(each, "nothing") for each in targets]
                    dangling |= {each for each in targets if each not in by_key}
                    following[table].append(_digest([digest, *found]))
            digests = following
        missing = sorted(map(str, dangling))
        return {table: sorted(each) for table, each in digests.items()}, missing

    def _own(self, table: str, row: dict[str, str | None]) -> str:
        hidden = self._left_out[table] | self._references[table].keys()
        hidden |= self._generic[table].keys()
        return _digest(sorted((name, row[name]) for name in row.keys() - hidden))

    def _targets(self, table: str, row: dict[str, str | None]) -> list[tuple[str, str, str]]:
        """Table, column and value of each reference of the row."""
        found = [
            (*place, value)
            for column, place in sorted(self._references[table].items())
            if (value := row[column]) is not None
        ]
        for column, kind in sorted(self._generic[table].items()):
            number, value = row[kind], row[column]
            if number is not None and value is not None:
                model = ContentType.objects.get_for_id(int(number)).model_class()
                pk = model._meta.pk
                found.append((model._meta.db_table, str(pk.column), _canonical(pk, value)))
        return found

    def _by_key(self, digests: dict[str, list[str]]) -> dict[tuple[str, str, str], str]:
        places = {place for each in self._references.values() for place in each.values()}
        places |= {
            (model._meta.db_table, str(model._meta.pk.column)) for model in apps.get_models()
        }
        found = {}
        keys = {
            (model._meta.db_table, model._meta.pk.column): model._meta.pk
            for model in apps.get_models()
        }
        for table, column in places:
            pk = keys.get((table, column))
            for row, digest in zip(self._raw.get(table, []), digests.get(table, []), strict=True):
                value = str(row[column])
                found[table, column, value] = digest
                found[table, column, _canonical(pk, value)] = digest
        return found


def _canonical(key: Any, value: str) -> str:
    """The text of a key, as generic references contain it."""
    while key is not None and key.remote_field:
        key = key.target_field
    try:
        return value if key is None else str(key.to_python(value))
    except ValidationError:
        return value


def _digest(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
