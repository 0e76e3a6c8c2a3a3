"""The base class of all SQL expressions here, a template for each vendor; hexadecimal digits; and
random values, new ones for every row."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from string import Formatter
from typing import Any

from django.db import NotSupportedError
from django.db.models import BigIntegerField, BooleanField, Func, TextField
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
        template = getattr(self, connection.vendor)  # no other vendor has one
        return self.fill(template(connection) if callable(template) else template, compiler)

    def fill(self, template: str, compiler: Any) -> Compiled:
        """The template filled with the SQL of the arguments, and their parameters in this order."""
        compiled = [compiler.compile(expression) for expression in self.get_source_expressions()]
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


class SQL(Fragment):
    """An expression with one user: its template, and templates of servers that need others."""

    def __init__(
        self,
        sql: str,
        *sources: Any,
        postgresql: str | None = None,
        mysql: str | None = None,
        **constants: Any,
    ) -> None:
        super().__init__(*sources, **constants)
        self.sqlite, self.postgresql, self.mysql = sql, postgresql or sql, mysql or sql


class SQLInteger(SQL):
    output_field = BigIntegerField()


class SQLText(SQL):
    output_field = TextField()


class SQLCondition(SQL):
    output_field = BooleanField()


def joined(parts: Iterable[Expression]) -> Expression:
    """The expressions, texts or bytes, as one, NULL if one of them is; a single one as it is."""
    expressions = list(parts)
    places = [f"{{{n}}}" for n in range(len(expressions))]
    sql, mysql = f"({' || '.join(places)})", f"CONCAT({', '.join(places)})"
    return SQL(sql, *expressions, mysql=mysql) if len(places) > 1 else expressions[0]


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
    runs = groupby(enumerate(positions), lambda place: place[1] - place[0])
    places = [[position for _, position in run] for _, run in runs]
    return [f"substr({{0}}, {run[0]}, {len(run)})" for run in places]


_UUID_HEX = "right(gen_random_uuid()::text, {})"
"""Up to 12 digits; the other digits of a UUID are not all random."""


class Random(Fragment):
    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        is_mariadb = connection.vendor == "mysql" and connection.mysql_is_mariadb
        if is_mariadb and connection.mysql_version < (10, 10):
            version = ".".join(map(str, connection.mysql_version))
            raise NotSupportedError(
                f"MariaDB {version} has no RANDOM_BYTES: upgrade to 10.10, or remove db_default "
                f"and let Python generate the ids"
            )
        return super().as_sql(compiler, connection, **extra)


class RandomHex(Random):
    """``digits`` hexadecimal digits in lower case."""

    output_field = TextField()

    def postgresql(self, connection: Any) -> str:
        whole, rest = divmod(self.extra["digits"], 12)
        return " || ".join(_UUID_HEX.format(n) for n in [12] * whole + [rest] if n)

    def sqlite(self, connection: Any) -> str:
        return self._cut("lower(hex(randomblob({bytes})))", "substr")

    def mysql(self, connection: Any) -> str:
        return self._cut("LOWER(HEX(RANDOM_BYTES({bytes})))", "SUBSTR")

    def _cut(self, digits: str, function: str) -> str:
        count = self.extra["digits"]
        filled = digits.format(bytes=-(-count // 2))
        return f"{function}({filled}, 2)" if count % 2 else filled


class RandomVariant(Random):
    """16 hexadecimal digits: the 2 variant bits of a UUID and 62 random bits."""

    output_field = TextField()
    postgresql = "replace(substr(gen_random_uuid()::text, 20), '-', '')"
    sqlite = "substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(8))), 2)"
    mysql = (
        "CONCAT(SUBSTR('89ab', 1 + (ASCII(RANDOM_BYTES(1)) & 3), 1), "
        "SUBSTR(LOWER(HEX(RANDOM_BYTES(8))), 2))"
    )


RANDOM_BITS = 48
"""How many bits ``RandomInteger`` draws."""


class RandomInteger(Random):
    """A number from 0 to ``below - 1``; ``below`` is 2**48, or far less for a uniform result."""

    output_field = BigIntegerField()
    postgresql = f"mod(('x' || {_UUID_HEX.format(12)})::bit(48)::bigint, {{below}})"
    # abs() of the smallest integer would overflow; abs() of a remainder can't.
    sqlite = "abs(random() %% {below})"
    mysql = "(CAST(CONV(HEX(RANDOM_BYTES(6)), 16, 10) AS UNSIGNED) MOD {below})"
