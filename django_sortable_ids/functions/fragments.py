"""The base class of all SQL expressions here, a template for each vendor, and those of
hexadecimal digits."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from string import Formatter
from typing import Any

from django.db import NotSupportedError
from django.db.models import BigIntegerField, BinaryField, Func, TextField
from django.db.models.expressions import Expression

Compiled = tuple[str, tuple[Any, ...]]


class Fragment(Func):
    """An SQL expression with a template for each vendor, or a method that takes the connection and
    returns it.

    A template contains the arguments as ``{0}``, ``{1}`` and so on, as often as it needs, and the
    constants by their keywords. Constants are part of the SQL and not parameters, so that the
    expression of a query matches that of an index, and can be a column's DEFAULT. Per cent signs
    are doubled, as in all SQL with parameters.
    """

    postgresql: Any
    sqlite: Any
    mysql: Any
    """MariaDB and MySQL."""

    def as_sql(  # type: ignore[override]
        self, compiler: Any, connection: Any, **extra: Any
    ) -> Compiled:
        template = getattr(self, connection.vendor, None)
        if template is None:
            raise NotSupportedError(
                f"{type(self).__name__} has SQL for SQLite, PostgreSQL, MariaDB and MySQL, but not "
                f"for {connection.display_name}; use one of these databases"
            )
        return self.fill(template(connection) if callable(template) else template, compiler)

    def fill(self, template: str, compiler: Any) -> Compiled:
        """The template filled with the SQL of the arguments, and their parameters in this order."""
        compiled = [compiler.compile(each) for each in self.get_source_expressions()]
        sql: list[str] = []
        params: list[Any] = []
        for literal, name, _, _ in Formatter().parse(template):
            sql.append(literal)
            if name is None:
                continue
            if name.isdigit():
                part, its_params = compiled[int(name)]
                sql.append(part)
                params.extend(its_params)
            else:
                sql.append(str(self.extra[name]))
        return "".join(sql), tuple(params)


class Join(Fragment):
    """Concatenates the arguments, texts or bytes; NULL if one of them is NULL."""

    def postgresql(self, connection: Any) -> str:
        return f"({self._places(' || ')})"

    sqlite = postgresql

    def mysql(self, connection: Any) -> str:
        return f"CONCAT({self._places(', ')})"

    def _places(self, separator: str) -> str:
        return separator.join(f"{{{n}}}" for n in range(len(self.get_source_expressions())))


def joined(parts: Iterable[Expression]) -> Expression:
    """The expressions as one text; a single expression as it is."""
    expressions = list(parts)
    return expressions[0] if len(expressions) == 1 else Join(*expressions)


def scaled(sql: str, factor: Fraction, division: str) -> str:
    """SQL for a whole number >= 0 times a factor, rounded down; ``division`` is its operator."""
    if factor.numerator != 1:
        sql = f"({sql} * {factor.numerator})"
    return sql if factor.denominator == 1 else f"({sql} {division} {factor.denominator})"


class HexOfInteger(Fragment):
    """A number >= 0, which must fit, as ``digits`` hexadecimal digits in lower case."""

    output_field = TextField()
    postgresql = "lpad(to_hex({0}), {digits}, '0')"
    sqlite = "printf('%%0{digits}x', {0})"
    mysql = "LOWER(LPAD(HEX({0}), {digits}, '0'))"


class InsertedHex(Fragment):
    """The text with ``digit`` inserted at ``position``, counted from 1."""

    output_field = TextField()
    postgresql = "overlay({0} placing '{digit}' from {position} for 0)"
    mysql = "INSERT({0}, {position}, 0, '{digit}')"

    def sqlite(self, connection: Any) -> str:
        position = self.extra["position"]
        return f"substr({{0}}, 1, {position - 1}) || '{{digit}}' || substr({{0}}, {position})"


class Upper(Fragment):
    output_field = TextField()
    postgresql = sqlite = mysql = "upper({0})"


class BytesOfHex(Fragment):
    """The bytes that the digits spell."""

    output_field = BinaryField()
    postgresql = "decode({0}, 'hex')"
    # Built in from SQLite 3.41; the app adds it to older versions.
    sqlite = "unhex({0})"
    mysql = "UNHEX({0})"


class UUIDOfHex(Fragment):
    """32 digits in the format of a ``uuid`` column."""

    postgresql = "({0})::uuid"
    sqlite = mysql = "{0}"


class HyphenatedHex(Fragment):
    """32 digits with the hyphens of a UUID.

    On SQLite the SQL contains the argument five times, so random digits come from five draws.
    """

    output_field = TextField()
    sqlite = " || '-' || ".join(
        f"substr({{0}}, {start}, {count})"
        for start, count in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    )
    postgresql = "({0})::uuid::text"
    mysql = "INSERT(INSERT(INSERT(INSERT({0}, 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')"


class HexOfUUID(Fragment):
    """The digits of the first ``bytes`` bytes of a PostgreSQL ``uuid``."""

    output_field = TextField()
    postgresql = "encode(substr(uuid_send({0}), 1, {bytes}), 'hex')"


class HexOfBytes(Fragment):
    """The digits of the first ``bytes`` bytes, in upper case except on PostgreSQL."""

    output_field = TextField()
    postgresql = "encode(substr({0}, 1, {bytes}), 'hex')"
    sqlite = "hex(substr({0}, 1, {bytes}))"
    mysql = "HEX(LEFT({0}, {bytes}))"


class IntegerOfHex(Fragment):
    """The number that the hexadecimal digits at ``positions`` of a text spell.

    Positions count from 1; there are at most 15. ``upper`` is the case of the text, which SQLite
    needs to know.
    """

    output_field = BigIntegerField()

    def postgresql(self, connection: Any) -> str:
        digits = " || ".join(_slices(self.extra["positions"]))
        bits = 4 * len(self.extra["positions"])
        return f"('x' || {digits})::bit({bits})::bigint"

    def mysql(self, connection: Any) -> str:
        slices = _slices(self.extra["positions"])
        digits = slices[0] if len(slices) == 1 else f"CONCAT({', '.join(slices)})"
        # CONV returns text, with which MariaDB and MySQL would calculate in floating point.
        return f"CAST(CONV({digits}, 16, 10) AS SIGNED)"

    def sqlite(self, connection: Any) -> str:
        # SQLite has no function for it. instr() returns 0 for the zero, which is not in the list.
        digits = "123456789ABCDEF" if self.extra["upper"] else "123456789abcdef"
        positions = self.extra["positions"]
        terms = " | ".join(
            f"(instr('{digits}', substr({{0}}, {position}, 1)) << {shift})"
            for position, shift in zip(
                positions, range(4 * len(positions) - 4, -1, -4), strict=True
            )
        )
        # hex(NULL) is '', which would give 0.
        return f"CASE WHEN {{0}} <> '' THEN {terms} END"


def _slices(positions: Sequence[int]) -> list[str]:
    """SQL for each run of consecutive positions."""
    ends = [(before, after) for before, after in pairwise(positions) if after != before + 1]
    starts = [positions[0], *(after for _, after in ends)]
    stops = [*(before for before, _ in ends), positions[-1]]
    return [
        f"substr({{0}}, {start}, {end - start + 1})"
        for start, end in zip(starts, stops, strict=True)
    ]
