"""The rows of a batch whose ids Python makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from ...schemes.clock import MICROSECOND, UNIX_EPOCH
from ...times.columns import TextColumn
from ..target import Row, Target

_NAIVE_EPOCH = UNIX_EPOCH.replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Rows:
    first: Row
    last: Row
    times: Sequence[Any]
    """Their places; none on SQLite, which has one writer at a time."""
    microseconds: Sequence[int]
    """Unix times."""
    keys: Sequence[Sequence[Any]]
    """The columns of each key, as the driver is given them."""


def read(target: Target, rows: QuerySet[Any]) -> Rows | None:
    """The rows, or None where there are none."""
    if isinstance(target.times, TextColumn):
        return _read_raw(target, rows)
    found = target.read(rows)
    if not found:
        return None
    times = [created for created, _ in found]
    keys = [target.stored_key(pk) for _, pk in found]
    return Rows(found[0], found[-1], times, [_unix(target.at(each)) for each in times], keys)


def _read_raw(target: Target, rows: QuerySet[Any]) -> Rows | None:
    """The keys as SQLite has them: to have Django convert each of them takes more time than all the
    rest of a batch.
    """
    names = [field.attname for field in target.key_fields]
    selected = rows.values_list(target.selected_place, *names)
    compiler = selected.query.get_compiler(target.using)
    sql, parameters = compiler.as_sql()
    with target.times.connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found = cursor.fetchall()
    if not found:
        return None
    converters = compiler.get_converters([column[0] for column in compiler.select])
    first, last = (
        (time, tuple(key) if target.model._meta.is_composite_pk else key[0])
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
        return _unix(target.at(text))

    def parse_utc(text: str) -> int:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return parse(text)
        return (at - _NAIVE_EPOCH) // MICROSECOND if at.tzinfo is None else _unix(at)

    return parse_utc if target.times.connection.timezone_name == "UTC" else parse


def _unix(at: datetime) -> int:
    return (at - UNIX_EPOCH) // MICROSECOND
