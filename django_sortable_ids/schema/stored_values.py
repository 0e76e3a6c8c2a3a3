"""Compares tables with models: samples a column's values and checks whether they are ids of a
field; and finds keys that count their rows where the model has ids."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from random import Random
from typing import Any, NamedTuple

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from .. import db
from ..db import tables
from ..fields import SortableIDField
from ..fields.storage import BinaryStorage, IntegerStorage, TextStorage, UUIDStorage, mariadb_sorts
from ..schemes import InvalidID, OutOfRange, Scheme, TimeScheme

PAGE = 1000
"""Rows that are sampled at each end and in the middle."""
_PAGE_OF_CHECKS = 100
"""The ``PAGE`` for the columns of a whole project."""
_TEXTS = 60
"""Ids that are sorted to find out how a column sorts."""
_EARLIEST, _TOLERANCE = datetime(2000, 1, 1, tzinfo=UTC), timedelta(days=1)
_VERSION, _VARIANT = 7, 0b10
_TABLE, _COLUMN = "\0table", "\0column"
_REWRITE = f"UPDATE {_TABLE} SET {_COLUMN} = {{}}; the same for all that refer to it."
_NARROW_INTEGERS = {"IntegerField", "SmallIntegerField", "AutoField", "SmallAutoField"}
_NARROW_INTEGERS |= {"PositiveIntegerField", "PositiveSmallIntegerField", "BooleanField"}
_FIND_OUT = (
    "Find out from which epoch, and in which units, they count: `manage.py inspect_id` decodes one "
    "by each scheme. Then set that, such as by epoch_ms= or layout=."
)
_ACCEPT = "If their times are right, add 'sortable_ids.W011' to SILENCED_SYSTEM_CHECKS."
_COUNTED = (models.AutoField, models.BigAutoField, models.SmallAutoField)
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


class Misfit(NamedTuple):
    """Why values are no ids of a field, and what would make them so, if that is known."""

    reason: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.reason} {self.advice}".rstrip()


def sampled(
    connection: BaseDatabaseWrapper, table: str, column: str, key: str | None, page: int = PAGE
) -> list[Any]:
    """Distinct values of a column as the driver returns them, without NULL.

    They come from both ends and the middle of the column ``key``, and from both ends of the column
    itself if an index begins with it. ``page`` is the number of rows of each.
    """
    quote = connection.ops.quote_name
    quoted, name = quote(table), quote(column)
    not_null = f"SELECT {name} FROM {quoted} WHERE {name} IS NOT NULL"
    samples: list[tuple[str, list[Any]]] = [(f"{not_null} LIMIT {page}", [])]
    if key is not None:
        quoted_key = quote(key)
        # LIMIT before the NULL filter: a nearly empty column would need a full scan.
        pairs = f"SELECT {quoted_key} AS key_of_row, {name} AS id FROM {quoted}"
        outer = "SELECT id FROM ({}) rows_of_the_key WHERE id IS NOT NULL"
        samples = [
            (outer.format(f"{pairs} ORDER BY {quoted_key} LIMIT {page}"), []),
            (outer.format(f"{pairs} ORDER BY {quoted_key} DESC LIMIT {page}"), []),
        ]
        keys = f"SELECT {quoted_key} FROM {quoted} ORDER BY {quoted_key}"
        ends = [db.value(connection, f"{keys} {order} LIMIT 1") for order in ("ASC", "DESC")]
        if all(isinstance(end, int) for end in ends):
            middle = f"{pairs} WHERE {quoted_key} >= %s ORDER BY {quoted_key} LIMIT {page}"
            samples.append((outer.format(middle), [sum(ends) // 2]))
        if column != key and tables.begins_an_index(connection, table, column):
            samples.append((f"{not_null} ORDER BY {name} LIMIT {page}", []))
            samples.append((f"{not_null} ORDER BY {name} DESC LIMIT {page}", []))
    values: dict[Any, None] = {}
    for sql, parameters in samples:
        read = db.rows(connection, sql, parameters)
        values |= dict.fromkeys(_hashable(value) for (value,) in read)
    return list(values)


def values_of(field: SortableIDField, connection: BaseDatabaseWrapper) -> list[Any]:
    meta = field.model._meta
    key = str(meta.pk_fields[0].column)
    return sampled(connection, meta.db_table, str(field.column), key, _PAGE_OF_CHECKS)


def misfit(
    values: list[Any],
    new: SortableIDField,
    connection: Any,
    old: Any = None,
    column_of: tuple[str, str] | None = None,
    late_share: float = 0.5,
) -> Misfit | None:
    """Why a value is no id of ``new``, or another id than of ``old``; None if all values keep their
    meaning. They are of the table and column ``column_of``, or else of the column of ``new``.
    ``late_share`` is the ``share`` of ``later_than_now``."""
    place = column_of or (new.model._meta.db_table, str(new.column))
    table, column = map(connection.ops.quote_name, place)
    for value in values:
        if why := _reason(value, new, old, connection):
            return Misfit(why.reason, why.advice.replace(_TABLE, table).replace(_COLUMN, column))
    if isinstance(old, SortableIDField) or new.created_from:
        return None
    numbers = [new.stored(connection).from_db(value) for value in values]
    return later_than_now(numbers, new.scheme, late_share)


def misread(value: Any, old: SortableIDField, new: Any, connection: Any) -> str | None:
    """How a stored id would be read by a field that has none; None if as the id."""
    try:
        expected = str(old.from_db_value(value, None, connection))
    except ValueError:
        return None  # It is no id.
    try:
        read = str(new.to_python(value))
    except (ValueError, TypeError, ValidationError):
        read = f"no {type(new).__name__}"
    return None if read == expected else f"{expected} would be read as {read}"


def later_than_now(numbers: Sequence[int], scheme: Scheme, share: float = 0.5) -> Misfit | None:
    """The misfit if more than this share of the ids have a time after the present."""
    if not isinstance(scheme, TimeScheme):
        return None
    limit = datetime.now(UTC) + _TOLERANCE
    times = _times(scheme, numbers)
    future = [time for time in times if time > limit]
    if len(future) <= share * len(times):
        return None
    reason = (
        f"{len(future):,} of {len(times):,} sampled ids would be of a time after now, such as "
        f"{min(future):%Y-%m-%d}, and new ids would sort before them."
    )
    advice = [_FIND_OUT] if scheme.value_type is int else []  # the others have one epoch each
    advice += [_ACCEPT] if 2 * len(future) <= len(times) else []
    return Misfit(reason, " ".join(advice))


def unlikely(
    values: list[Any], field: SortableIDField, connection: BaseDatabaseWrapper
) -> str | None:
    """How many of the ``values_of`` the field, all of them ids, have a time before 2000 or after
    the present; None if none has, or if the ids have the times of their rows."""
    scheme = field.scheme
    if not isinstance(scheme, TimeScheme) or field.created_from:
        return None
    numbers = [field.stored(connection).from_db(value) for value in values]
    times, limit = _times(scheme, numbers), datetime.now(UTC) + _TOLERANCE
    strange = [time for time in times if not _EARLIEST <= time <= limit]
    if not strange:
        return None
    shown = ", ".join(sorted({f"{time:%Y-%m-%d}" for time in strange})[:3])
    return f"{len(strange):,} of {len(times):,} sampled ids have such a time: {shown}"


def _times(scheme: TimeScheme, numbers: Iterable[int]) -> list[datetime]:
    times = (_time(scheme, number) for number in numbers)
    return [time for time in times if time is not None]


def sorts(field: SortableIDField, connection: BaseDatabaseWrapper) -> bool:
    """Whether the database sorts ids in the column of the field, and takes each one: texts by their
    bytes, and UUIDs in MariaDB's type for them."""
    stored = field.stored(connection)
    is_mysql = connection.vendor == "mysql"
    if is_mysql and isinstance(stored, UUIDStorage) and connection.features.has_native_uuid_field:
        return mariadb_sorts(field.scheme) and sorts_uuids(connection)
    if not isinstance(stored, TextStorage):
        return True
    scheme, random = field.scheme, Random(0)  # the same numbers in every run
    # Few of all numbers with as many bits may be ids.
    first, last = scheme.bounds if isinstance(scheme, TimeScheme) else (0, (1 << scheme.bits) - 1)
    numbers = filter(scheme.holds, (random.randint(first, last) for _ in count()))
    texts = [stored.form.format(number) for number in islice(numbers, _TEXTS)]
    quote = connection.ops.quote_name
    column, table = (
        quote(str(name)).replace("%", "%%") for name in (field.column, field.model._meta.db_table)
    )
    # In a UNION, the constants take the collation of the column, or of one that a move will add.
    collation = field.db_parameters(connection)["collation"]
    added = "CAST('' AS CHAR)" + (f" COLLATE {quote(collation)}" if collation else "")
    values = " UNION ALL SELECT %s" * len(texts)
    for selected in (column, added):
        sql = f"SELECT {selected} FROM {table} WHERE 1 = 0{values} ORDER BY 1"
        with suppress(DatabaseError), transaction.atomic(connection.alias):
            return [text for (text,) in db.rows(connection, sql, texts)] == sorted(texts)
    return True  # The column is not text: the check of its values reports that.


def sorts_uuids(connection: BaseDatabaseWrapper) -> bool:
    """Whether the server sorts UUIDs of version 7 by their first bytes."""
    fixed = _VERSION << 76 | _VARIANT << 62
    early, late = uuid.UUID(int=fixed | 1), uuid.UUID(int=1 << 80 | fixed)
    sql = "SELECT CAST(%s AS uuid) < CAST(%s AS uuid)"
    return bool(db.value(connection, sql, [str(early), str(late)]))


def too_narrow(connection: BaseDatabaseWrapper, stored: Any, column: Any) -> tuple[str, str] | None:
    """What the column holds and what an id needs, if that is more. SQLite has no widths."""
    if connection.vendor == "sqlite":
        return None
    field_type = connection.introspection.get_field_type(column.type_code, column)
    if isinstance(stored, IntegerStorage):
        return ("32 bits or less", "64 bits") if field_type in _NARROW_INTEGERS else None
    match stored:
        case TextStorage():
            needed, unit = stored.form.length, "characters"
        case BinaryStorage():
            needed, unit = stored.length, "bytes"
        case UUIDStorage() if not connection.features.has_native_uuid_field:
            needed, unit = 32, "characters"
        case _:
            return None
    if field_type.endswith(("IntegerField", "AutoField")):
        return "numbers", f"{needed} {unit}"
    width = column.display_size
    if not isinstance(width, int) or not 0 < width < needed:
        return None
    return f"{width} {unit}", f"{needed} {unit}"


def _reason(
    value: Any, new: SortableIDField, old: models.Field[Any, Any] | None, connection: Any
) -> Misfit | None:
    title, shown = new.scheme.title, _shown(value)
    try:
        number = new.stored(connection).from_db(value)
        new.scheme.from_int(number)
        written = new.stored(connection).to_db(number, connection)
    except (ValueError, TypeError, AttributeError) as error:  # The column type may differ, too.
        if isinstance(value, int) and new.scheme.value_type is int:
            return Misfit(str(error))
        return Misfit(f"{shown} is no {title}.", _without_prefix(value, new, connection))
    if _plain(written) != _plain(value) and not isinstance(value, int):
        reason = f"{shown} is no {title} in the form of this column, {_shown(written)}."
        for name in ("upper", "lower"):
            if getattr(shown, name)() == written:
                return Misfit(reason, _REWRITE.format(f"{name}({_COLUMN})"))
        return Misfit(reason)
    if isinstance(old, SortableIDField):
        try:
            before = old.stored(connection).from_db(value)
            same = before == number and _time(old.scheme, before) == _time(new.scheme, number)
        except (ValueError, TypeError, AttributeError):
            return None  # It was no id before.
        is_corrected = _is_late(old, before) and not _is_late(new, number)
        if not same and not (before == number and is_corrected):
            return Misfit(f"{shown} would become another {title}, or get another time.")
        if lost := _lost_text(number, new, old):
            return Misfit(lost)
    return None


def _without_prefix(value: Any, new: SortableIDField, connection: Any) -> str:
    """How to remove a prefix that is stored with the ids; empty if there is none."""
    separator = re.search("[_:-](?=[^_:-]+$)", value) if isinstance(value, str) else None
    if separator is None or _reason(value[separator.end() :], new, None, connection):
        return ""
    prefix = f"prefix={value[: separator.start()]!r}, separator={separator[0]!r}"
    rewrite = _REWRITE.format(f"substr({_COLUMN}, {separator.end() + 1})")
    return f"{rewrite} The field shows the prefix all the same, with {prefix}."


def _lost_text(number: int, new: SortableIDField, old: SortableIDField) -> str | None:
    """Why an id is not found by its public text after a change of the scheme; None if it is found,
    or if the scheme stays, where only the spelling may change."""
    if old.scheme.name == new.scheme.name:
        return None
    try:
        text = old.public_text.format(old.scheme.from_trusted(number))
    except InvalidID:  # A UUID of another version, by accept_other_versions.
        return None
    with suppress(InvalidID):
        if new.scheme.to_int(new.public_text.candidates(text)[0]) == number:
            return None
    written = new.public_text.format(new.scheme.from_trusted(number))
    return f"the public id {text} would become {written}, and the old text would not be found."


def _is_late(field: SortableIDField, number: int) -> bool:
    return later_than_now([number], field.scheme) is not None


def _time(scheme: Scheme, number: int) -> datetime | None:
    if not isinstance(scheme, TimeScheme):
        return None
    value = scheme.from_trusted(number)
    try:
        return scheme.created_at(value) if scheme.carries_time(value) else None
    except OutOfRange:
        return _END_OF_TIME


def _hashable(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview | bytearray) else value


def _plain(value: Any) -> Any:
    """Makes a UUID that was read comparable with one to write, whose types may differ."""
    if isinstance(value, uuid.UUID):
        return str(value)
    return _hashable(value)


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


KEEP_DEFAULT = (
    "Django migrates no key of the table of a ManyToManyField. Restore the DEFAULT_AUTO_FIELD or "
    "default_auto_field with which the table was created; for other apps, set default_auto_field "
    "in their own AppConfig."
)
"""What to do about ``automatic_keys``."""


def automatic_keys(connection: BaseDatabaseWrapper) -> Iterator[tuple[type[models.Model], str]]:
    """Tables of many-to-many relations with another kind of key than the running model, and why.

    No migration names or changes these keys: they are those that ``DEFAULT_AUTO_FIELD`` or the app
    had when the table was created. With another one in the running model a row can't be inserted,
    or, on SQLite, is ignored.
    """
    for model in apps.get_models(include_auto_created=True):
        meta, key = model._meta, model._meta.pk
        if not meta.auto_created or not router.allow_migrate_model(connection.alias, model):
            continue
        column = tables.column_info(connection, meta.db_table, str(key.column))
        if column is None:
            continue
        # A field of another package may generate its keys, and an unmanaged table its own.
        is_wrong = not column.is_counted and meta.managed and type(key) in _COUNTED
        if isinstance(key, SortableIDField):
            is_big = connection.vendor == "sqlite" or "big" in column.kind.lower()
            holds_ids = is_big and key.get_internal_type() == "BigIntegerField"
            is_wrong = column.is_counted and not holds_ids
        if is_wrong and tables.kind(connection, meta.db_table) == "table":
            counts = "counts" if column.is_counted else "doesn't count"
            yield (
                model,
                f"the database {counts} {meta.db_table}.{column.name}, which is of type "
                f"{type(key).__name__} by the default_auto_field of {meta.app_label}",
            )
