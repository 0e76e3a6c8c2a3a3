"""Columns of texts that contain keys: those of ``GenericForeignKey`` and their like, which contain
keys of several models, and adopted ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import NotSupportedError, models
from django.db.models import CharField, IntegerField, QuerySet, TextField, UUIDField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast
from django.db.models.sql import Query

from ...backfill.engines.mysql_statements import kept_assignments
from ...db import rows, tables, value
from ...errors import BackfillError, counted
from ...fields import SortableIDField
from ...functions.fragments import HyphenatedHex
from ...functions.texts import AsText
from .change import Change, Key, KeyColumn, Texts
from .moved import TextReference

_KEYS = 500
"""Keys that are looked up in one statement."""
_TEXTS = 10_000
"""Texts that are in memory at once."""
_CONTENT_TYPES = "django_content_type"
_UUID = 36
"""Characters of a UUID as text."""
_BIG = ("BigIntegerField", "BigAutoField")
_SMALL = ("tinyint", "smallint", "mediumint", "int", "integer")
"""Types of the databases, other than SQLite, whose numbers have 32 bits or fewer."""
_LONGEST = 255
"""Characters of the texts that are replaced: longer ones are no keys."""
_TYPES = {
    "sqlite": "text",
    "postgresql": f'varchar({_LONGEST}) COLLATE "C"',
    "mysql": f"varchar({_LONGEST}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
}
_REST = """
SELECT f.moving_old FROM {texts} f LEFT JOIN {new} n ON n.moving_old = f.moving_old
WHERE f.moving_old > %s AND n.moving_old IS NULL ORDER BY f.moving_old
"""
_AMBIGUOUS = """
SELECT n.moving_next FROM {new} n JOIN {texts} f ON f.moving_old = n.moving_next
WHERE n.moving_next <> n.moving_old ORDER BY n.moving_next LIMIT 1
"""
_KNOWN = """
INSERT INTO {{new}} SELECT {old}, {next} FROM {values} p {join} {{texts}} f ON f.moving_old = {old}
WHERE {next} IS NOT NULL
"""
# The server would have to sort or to read one of the tables again in any other order.
_JOINS = {"sqlite": "CROSS JOIN", "postgresql": "JOIN", "mysql": "STRAIGHT_JOIN"}
_UPDATES = {
    "sqlite": (
        "UPDATE {table} SET {column} = "
        "(SELECT n.moving_next FROM {new} n WHERE n.moving_old = {text}) "
        "WHERE {condition} AND {text} IN (SELECT moving_old FROM {new})"
    ),
    "postgresql": (
        "UPDATE {table} t SET {column} = n.moving_next::{kind} FROM {new} n "
        "WHERE n.moving_old = {text} AND {condition}"
    ),
    # Without STRAIGHT_JOIN, the server may read the whole table for each new text.
    "mysql": (
        "UPDATE {table} t STRAIGHT_JOIN {new} n ON n.moving_old = {text} "
        "SET t.{column} = n.moving_next{kept} WHERE {condition}"
    ),
}


def generic_references(connection: Any) -> list[TextReference]:
    """Each column of a ``GenericForeignKey``, which states of migrations don't have; and each
    ``object_id`` of texts next to a foreign key ``content_type``, or ``to_object_id`` next to
    ``to_content_type``, as logs have them."""
    columns = set()
    for model in apps.get_models():
        for field in model._meta.private_fields:
            if hasattr(field, "ct_field") and not getattr(field, "mti_inherited", False):
                columns.add(_generic(model, field.ct_field, field.fk_field))
        fields = {field.name: field for field in model._meta.local_concrete_fields}
        for name, field in fields.items():
            object_id = re.sub("content_type$", "object_id", name)
            if is_content_type(field) and isinstance(fields.get(object_id), CharField | TextField):
                columns.add(_generic(model, name, object_id))
    return sorted(column for column in columns if tables.kind(connection, column.table) == "table")


def is_content_type(field: Any) -> bool:
    related = field.related_model
    return bool(related) and related._meta.label == "contenttypes.ContentType"


def _generic(model: type[models.Model], content_type: str, object_id: str) -> TextReference:
    fields = (model._meta.get_field(name) for name in (object_id, content_type))
    column, type_column = (str(getattr(field, "column", "")) for field in fields)
    return TextReference(model._meta.db_table, column, type_column)


def replace_values(connection: Any, change: Change) -> None:
    """Replace the keys in all columns of texts.

    Values that are no key of a row stay as they are: the database has no foreign key there, so the
    rows may be gone. Raises ``BackfillError`` if a new key is also an old one.
    """
    for texts in change.texts:
        for key in change.keys:
            condition = _condition(connection, texts, key)
            if condition and _has_room(connection, texts, key):
                _replace(connection, texts, key, condition)


def _replace(connection: Any, texts: Texts, key: Key, condition: str) -> None:
    """Replace the keys of one model in the rows of a column for which the condition is true: by one
    statement, whatever the number of rows and of texts. In a transaction.

    A temporary table has all texts of the column, and another one the new text of some of them.
    """
    vendor, quote = connection.vendor, connection.ops.quote_name
    info = tables.column_info(connection, texts.table, texts.column)
    names = {
        "table": quote(texts.table),
        "column": quote(texts.column),
        "condition": condition,
        "new": "moving_new_texts",
        "texts": "moving_found_texts",
        "text": _compared(vendor, quote(texts.column)),
        "kind": "text" if info is None else info.kind,
        "kept": kept_assignments(connection, texts.table, "t."),
    }

    def run(sql: str, parameters: Any = None) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql.format(**names), parameters)

    def drop() -> None:
        for name in ("{texts}", "{new}"):
            run(f"DROP {'TEMPORARY ' if vendor == 'mysql' else ''}TABLE IF EXISTS {name}")

    drop()  # Tables of a replacement that failed.
    kind = _TYPES[vendor]
    key_column = f"moving_old {kind} NOT NULL PRIMARY KEY"
    length = "LENGTH" if vendor == "sqlite" else "CHAR_LENGTH"
    run(f"CREATE TEMPORARY TABLE {{texts}} ({key_column})")
    run(f"CREATE TEMPORARY TABLE {{new}} ({key_column}, moving_next {kind} NOT NULL)")
    run(
        f"INSERT INTO {{texts}} SELECT DISTINCT {{text}} FROM {{table}} WHERE {{condition}} "
        f"AND {{column}} IS NOT NULL AND {length}({{text}}) <= {_LONGEST}"
    )
    if vendor == "postgresql":
        run("ANALYZE {texts}")
    # The usual texts of all keys, in SQL. Python finds other spellings, and what SQL can't write.
    has_uuids = connection.features.has_native_uuid_field
    is_hexadecimal = isinstance(texts.field, UUIDField) and not has_uuids
    fields = key.map.key_field, key.map.next_field
    old, next_ = (text_of(field, f"p.{quote(field.column)}", connection) for field in fields)
    if old and next_:
        if is_hexadecimal:
            old, next_ = (f"REPLACE({text}, '-', '')" for text in (old, next_))
        old, next_ = _compared(vendor, old), _compared(vendor, next_)
        values = quote(key.map.table)
        run(_KNOWN.format(values=values, old=old, next=next_, join=_JOINS[vendor]))
    after = ""
    while page := rows(connection, f"{_REST} LIMIT {_TEXTS}".format(**names), [after]):
        new = dict(_new_values(connection, key, (text for (text,) in page)))
        if is_hexadecimal:
            new = {text: new_text.replace("-", "") for text, new_text in new.items()}
        with connection.cursor() as cursor:
            insert = "INSERT INTO {new} VALUES (%s, %s)".format(**names)
            cursor.executemany(insert, list(new.items()))
        [after] = page[-1]
    if ambiguous := value(connection, _AMBIGUOUS.format(**names)):
        raise BackfillError(
            f"{texts.table}.{texts.column} contains {ambiguous}, which is an old and a new key "
            f"of {key.label}: correct these rows, and run this again"
        )
    if vendor == "postgresql":
        run("ANALYZE {new}")
    run(_UPDATES[vendor], ())
    drop()


def _compared(vendor: str, text: str) -> str:
    """A text, to be compared with those of the temporary tables."""
    match vendor:
        case "mysql":
            return f"CONVERT({text} USING utf8mb4) COLLATE utf8mb4_bin"
        case "postgresql":
            return f'{text}::text COLLATE "C"'
    return f"CAST({text} AS text)"


def problems(connection: Any, change: Change) -> Iterator[str]:
    """Columns without room for the keys."""
    for texts in change.texts:
        for key in change.keys:
            has_room = _has_room(connection, texts, key)
            if not has_room and (count := rows_with_keys(connection, texts, key)):
                kind = f"CharField(max_length={_length(key.after)})"
                if isinstance(texts.field, IntegerField) and isinstance(key.after, IntegerField):
                    kind = "BigIntegerField"
                yield (
                    f"{counted(count, 'row')} of {texts.table}.{texts.column} with keys of "
                    f"{key.label}, for whose new ones the column has no room: take back the edits "
                    f"of the keys if there are any, make it {kind}, and run makemigrations and "
                    f"migrate; then edit the keys, and try again. If it is of a package, use a "
                    f"model of your own instead"
                )


def rows_with_keys(connection: Any, texts: Texts, key: Key) -> int:
    condition = _condition(connection, texts, key)
    table, column = map(connection.ops.quote_name, (texts.table, texts.column))
    sql = f"SELECT COUNT({column}) FROM {table} WHERE {condition}"
    return value(connection, sql) if condition else 0


def deleted_keys(connection: Any, texts: Texts, key: Key, known: KeyColumn) -> Iterator[list[Any]]:
    """Lists of the values of the column that may be keys, but are none of the known ones."""
    condition = _condition(connection, texts, key)
    if not condition:
        return
    table, column = map(connection.ops.quote_name, (texts.table, texts.column))
    sql = f"SELECT DISTINCT {column} FROM {table} WHERE {condition} AND {column} IS NOT NULL"
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql)
        while page := cursor.fetchmany(_TEXTS):
            keys = set(by_key(connection, key, (str(text) for (text,) in page)))
            keys -= {existing for (existing,) in looked_up(connection, known, list(keys), "pk")}
            yield sorted(keys)


def _condition(connection: Any, texts: Texts, key: Key) -> str:
    """The condition in SQL for rows that contain values of the key; empty if none can."""
    if texts.content_type is None:
        column = connection.ops.quote_name(texts.column)
        return f"{column} IS NOT NULL" if texts.of == key.label else ""
    if not tables.kind(connection, _CONTENT_TYPES):
        return ""
    column, table = map(connection.ops.quote_name, (texts.content_type, _CONTENT_TYPES))
    conditions = " OR ".join(
        f"app_label = '{app_label}' AND model = '{model}'" for app_label, model in key.content_types
    )
    # The keys of content types may be any.
    return f"{column} IN (SELECT id FROM {table} WHERE {conditions})"


def _has_room(connection: Any, texts: Texts, key: Key) -> bool:
    """Whether the column can contain the new keys."""
    is_number = isinstance(key.after, IntegerField)
    info = tables.column_info(connection, texts.table, texts.column)
    kind = "" if info is None else info.kind.lower()
    if "int" in kind:
        is_small = connection.vendor != "sqlite" and kind in _SMALL
        return is_number and not (is_small and key.after.get_internal_type() in _BIG)
    if isinstance(texts.field, SortableIDField):
        return False
    if kind == "uuid" or isinstance(texts.field, UUIDField):
        return isinstance(key.after, UUIDField)
    room = getattr(texts.field, "max_length", None)
    return is_number or room is None or room >= _length(key.after)


def _length(key: Any) -> int:
    """The longest text of a key."""
    if isinstance(key, SortableIDField):
        return key.scheme.canonical.length
    return _UUID if isinstance(key, UUIDField) else key.max_length or 0


def by_key(connection: Any, key: Key, candidates: Iterable[str]) -> dict[Any, list[str]]:
    """The texts that may stand for a key, by its value."""
    texts: dict[Any, list[str]] = {}
    is_number = isinstance(key.before, IntegerField)
    kind = key.before.get_internal_type()
    least, most = connection.ops.integer_field_range(kind) if is_number else (0, 0)
    for text in candidates:
        try:
            key_value = key.before.to_python(text)
        except ValidationError:
            continue
        # Python also reads "1_7" and "017", which no database takes for the text of 17.
        is_other = is_number and (str(key_value) != text or not least <= key_value <= most)
        if key_value is not None and not is_other:
            texts.setdefault(key_value, []).append(text)
    return texts


def _new_values(connection: Any, key: Key, candidates: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a text of the column that is a key, and the text of its next value."""
    texts = by_key(connection, key, candidates)
    folded: dict[Any, list[str]] = {}
    for old, same in texts.items():
        folded.setdefault(_folded(old), []).extend(same)
    for old, new in looked_up(connection, key.map, list(texts), key.map.column, key.map.next):
        # A collation may say that a key is equal to texts in other cases.
        for text in texts.get(old) or folded.get(_folded(old), []):
            yield text, str(new)


def _folded(key: Any) -> Any:
    return key.casefold().rstrip(" ") if isinstance(key, str) else key


def looked_up(connection: Any, values: KeyColumn, keys: list[Any], *names: str) -> Iterator[Any]:
    """Fields of the rows that have these keys."""
    known: QuerySet[Any] = QuerySet(values.model, using=connection.alias)
    for start in range(0, len(keys), _KEYS):
        yield from known.filter(pk__in=keys[start : start + _KEYS]).values_list(*names)


def text_of(field: Any, column: str, connection: Any) -> str | None:
    """The expression for ``str()`` of the value in a column; None if SQL has none."""
    expression: Any = RawSQL(column, [], field)
    match field:
        case SortableIDField():
            expression = AsText(expression)
        case UUIDField() if not connection.features.has_native_uuid_field:
            expression = HyphenatedHex(expression)
        case IntegerField() | UUIDField():
            expression = Cast(expression, CharField())
        case _ if not isinstance(field, CharField):
            return None
    try:
        sql, _ = Query(None).get_compiler(connection=connection).compile(expression)
    except NotSupportedError:
        return None
    return str(sql % ())
