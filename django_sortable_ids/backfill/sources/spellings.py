"""Refuses times on SQLite that are none, or whose texts don't sort by time, and says how to write
them again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import BackfillError
from ...times.columns import TextColumn
from ...times.spelling import WHOLE, Spelling, common_spelling, shape_of
from ..target import Target
from . import impossible_times

_MOST_SHOWN = 5
"""Spellings in a message."""

_ZONE = "ltrim(substr({0}, 20), '.,0123456789')"
_FRACTION = f"replace(substr({{0}}, 20), {_ZONE}, '')"
_AS_DJANGO = (
    f"replace(strftime('%Y-%m-%d %H:%M:%S', substr({{0}}, 1, 19) || {_ZONE}) || "
    f"substr('.' || substr({_FRACTION}, 2) || '000000', 1, 7), '.000000', '')"
)
"""The text that Django writes for a time: strftime() itself knows thousandths only."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """Times that are spelled in one way."""

    name: str
    rows: int
    example: Any
    last: Any


def check(target: Target) -> None:
    """Raise ``BackfillError`` where the times are spelled in several ways, or Django can't read
    them.
    """
    times = target.times
    if not isinstance(times, TextColumn) or not _has_others(target, times.spelling):
        return
    impossible_times.check(target)
    shapes = _shapes(target)
    name = f"{target.source.name} of {target.model._meta.label}"
    unreadable = [shape for shape in shapes if not _is_readable(times, shape)]
    if unreadable:
        raise BackfillError(
            f"{name} has values that Django can't read as times: {_listed(unreadable)}. Correct "
            f"them; nothing was written."
        )
    if common_spelling(shape.name for shape in shapes):
        return
    raise BackfillError(
        f"{name} is spelled in ways that don't sort by time, since SQLite compares texts: "
        f"{_listed(shapes)}. {_advice(target, times, shapes)}; nothing was written."
    )


def _has_others(target: Target, spelling: Spelling) -> bool:
    """Whether there are times that are not spelled so, impossible ones, or both texts of a whole
    second."""
    quote = target.times.connection.ops.quote_name
    column, table = quote(str(target.source.column)), quote(target.source.model._meta.db_table)
    patterns = "".join(
        f" WHEN {length} THEN {column} GLOB '{pattern}'" for length, pattern in _patterns(spelling)
    )
    # By their lengths first: it reads every row.
    is_spelled_so = f"CASE length({column}){patterns} ELSE 0 END"
    # Of those that julianday() takes, the others have a day or an hour to look at.
    is_ordinary = (
        f"(substr({column}, 1, 4) > '0000' AND substr({column}, 9, 2) < '29' "
        f"AND substr({column}, 12, 2) < '24')"
    )
    is_time = (
        f"typeof({column}) = 'text' AND julianday({column}) IS NOT NULL "
        f"AND ({is_ordinary} OR NOT {impossible_times.is_impossible(column)})"
    )
    others, written, left_out = _fetch(
        target,
        f"SELECT MAX(NOT ({is_spelled_so} AND {is_time})), "
        f"MAX(substr({column}, 20) = '{WHOLE}{spelling.zone}'), "
        f"MAX(substr({column}, 20) = '{spelling.zone}') "
        f"FROM {table} WHERE {column} IS NOT NULL",
    )[0]
    return bool(others or (written and left_out))


def _patterns(spelling: Spelling) -> Iterator[tuple[int, str]]:
    """The length and the pattern of each form of a spelling."""
    second = f"????-??-??{spelling.separator}??:??:??"
    for digits in (0, 6) if spelling.fraction is None else (spelling.fraction,):
        fraction = f".{'?' * digits}" if digits else ""
        length = len(second + fraction + spelling.zone)
        yield length, f"{second}{fraction.replace('?', '[0-9]')}{spelling.zone}"


def _shapes(target: Target) -> list[_Shape]:
    connection = target.times.connection
    connection.connection.create_function("sortable_ids_shape", 1, shape_of, deterministic=True)
    quote = connection.ops.quote_name
    column, table = quote(str(target.source.column)), quote(target.source.model._meta.db_table)
    found = _fetch(
        target,
        f"SELECT sortable_ids_shape({column}) AS shape, COUNT(*), CAST(MIN({column}) AS TEXT), "
        f"CAST(MAX({column}) AS TEXT) FROM {table} WHERE {column} IS NOT NULL "
        f"GROUP BY shape ORDER BY COUNT(*) DESC, shape",
    )
    return [_Shape(*row) for row in found]


def _is_readable(times: TextColumn, shape: _Shape) -> bool:
    if shape_of(shape.example) != shape.name:
        return False  # a number or bytes
    try:
        return all(times.at(text) for text in (shape.example, shape.last))
    except BackfillError:
        return False


def _listed(shapes: list[_Shape]) -> str:
    shown = [f"{shape.rows:,} rows as {shape.example!r}" for shape in shapes[:_MOST_SHOWN]]
    others = len(shapes) - len(shown)
    return ", ".join([*shown, *([f"{others} more spellings"] if others else [])])


def _advice(target: Target, times: TextColumn, shapes: list[_Shape]) -> str:
    """The statement that has all of them spelled as Django does, where SQLite can do that."""
    texts = [text for shape in shapes for text in (shape.example, shape.last)]
    if not all(_is_rewritten(target, times, text) for text in texts):
        return (
            "SQLite can't rewrite all of them itself: save these rows through the ORM, "
            f"`for row in {target.source.model.__name__}.objects.iterator(): "
            f'row.save(update_fields=["{target.source.attname}"])`, and start again'
        )
    quote = times.connection.ops.quote_name
    column, table = quote(str(target.source.column)), quote(target.source.model._meta.db_table)
    return (
        f"Write all of them as Django does, and start again: "
        f"UPDATE {table} SET {column} = COALESCE({_AS_DJANGO.format(column)}, {column})"
    )


def _is_rewritten(target: Target, times: TextColumn, text: str) -> bool:
    """Whether SQLite writes that time as Django would."""
    operations = times.connection.ops
    value = operations.convert_datetimefield_value(text, None, times.connection)
    expected = operations.adapt_datetimefield_value(value)
    rewritten = _AS_DJANGO.format("text").replace("%", "%%")
    found = _fetch(target, f"SELECT {rewritten} FROM (SELECT %s AS text)", text)
    return bool(found[0][0] == expected)


def _fetch(target: Target, sql: str, *parameters: Any) -> list[Any]:
    with target.times.connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        found: list[Any] = cursor.fetchall()
    return found
