"""The rows of a batch whose ids Python makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db import connections
from django.db.models import DateTimeField, F, QuerySet, TextField
from django.db.models.functions import Cast

from ..schemes.clock import MICROSECOND, UNIX_EPOCH
from .statements import Row
from .target import Target
from .times import aware

_NAIVE_EPOCH = UNIX_EPOCH.replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Rows:
    first: Row
    last: Row
    times: Sequence[datetime]
    """As the database has them; none on SQLite, which has one writer at a time."""
    microseconds: Sequence[int]
    """Unix times."""
    keys: Sequence[Sequence[Any]]
    """The columns of each key, as the driver is given them."""


def read(target: Target, rows: QuerySet[Any]) -> Rows | None:
    """The rows, or None where there are none."""
    if _is_raw(target):
        return _read_raw(target, rows)
    found = target.read(rows)
    if not found:
        return None
    times = [created for created, _ in found]
    keys = [target.stored_key(pk) for _, pk in found]
    return Rows(found[0], found[-1], times, [_unix(aware(each)) for each in times], keys)


def _is_raw(target: Target) -> bool:
    """Whether the values can be taken as SQLite has them: to have Django convert each of them
    takes more time than all the rest of a batch.
    """
    source = target.source
    return (
        connections[target.using].vendor == "sqlite"
        and target.order[0] == source.name
        and isinstance(source, DateTimeField)
        and not hasattr(source, "from_db_value")
    )


def _read_raw(target: Target, rows: QuerySet[Any]) -> Rows | None:
    names = [field.attname for field in target.key_fields]
    # As text, or the driver would make a datetime of each.
    selected = rows.values_list(Cast(F(target.source.name), TextField()), *names)
    compiler = selected.query.get_compiler(target.using)
    sql, parameters = compiler.as_sql()
    with connections[target.using].cursor() as cursor:
        cursor.execute(sql, parameters)
        found = cursor.fetchall()
    if not found:
        return None
    converters = compiler.get_converters([column[0] for column in compiler.select])
    first, last = (
        (_datetime(target, time), tuple(key) if target.model._meta.is_composite_pk else key[0])
        for time, *key in compiler.apply_converters([found[0], found[-1]], converters)
    )
    microseconds: list[int] = []
    parse = _parser(target)
    for text, same in groupby(row[0] for row in found):
        microseconds += [parse(text)] * len(list(same))
    return Rows(first, last, [], microseconds, [row[1:] for row in found])


def _parser(target: Target) -> Callable[[str], int]:
    """Gives the Unix time in microseconds of what SQLite has."""

    def parse(text: str) -> int:
        return _unix(aware(_datetime(target, text)))

    def parse_utc(text: str) -> int:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return parse(text)
        return (at - _NAIVE_EPOCH) // MICROSECOND if at.tzinfo is None else _unix(at)

    return parse_utc if connections[target.using].timezone_name == "UTC" else parse


def _datetime(target: Target, text: str) -> datetime:
    """As the ORM gives it."""
    connection: Any = connections[target.using]
    at: datetime = connection.ops.convert_datetimefield_value(text, None, connection)
    return at


def _unix(at: datetime) -> int:
    return (at - UNIX_EPOCH) // MICROSECOND
