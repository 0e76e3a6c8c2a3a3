"""Digits of alphabets other than hexadecimal: Crockford's base 32, base 36, base 62 and so on."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from django.db.models import BigIntegerField, F, TextField
from django.db.models.expressions import Expression, OrderBy
from django.db.models.functions import Length

from ..schemes.encodings.notation import Notation
from .fragments import Fragment, Text

# INSTR ignores case except for bytes; on MySQL with any collation of the column.
_MYSQL_PLACE = "(INSTR(_binary'{alphabet}', CAST({digit} AS BINARY)) - 1)"


def digits_of_integer(number: Expression, alphabet: str, length: int) -> Expression:
    """The last ``length`` digits of a number >= 0 in ``alphabet``. The SQL contains the number once
    per digit."""
    base = len(alphabet)

    def digits(sql: str) -> list[str]:
        powers = (base**power for power in range(length - 1, -1, -1))
        return [f"substr('{alphabet}', 1 + {sql.format(power, base)}, 1)" for power in powers]

    return Text(
        " || ".join(digits("({{0}}) / {} %% {}")),
        number,
        postgresql=" || ".join(digits("mod({{0}} / {}, {})::int")),
        mysql=f"CONCAT({', '.join(digits('({{0}}) DIV {} MOD {}'))})",
    )


class IntegerOfDigits(Fragment):
    """The number that ``length`` characters of a text spell in ``alphabet``, from the character
    ``first``, counted from 1, by default the first one.

    It must fit into 63 bits.
    """

    output_field = BigIntegerField()

    def postgresql(self, connection: Any) -> str:
        return self.total("(strpos('{alphabet}', {digit})::bigint - 1)")

    def sqlite(self, connection: Any) -> str:
        return self.total("(instr('{alphabet}', {digit}) - 1)")

    def mysql(self, connection: Any) -> str:
        return f"CAST({self.total(_MYSQL_PLACE)} AS SIGNED)"

    def total(self, place: str, weight: str = "{}") -> str:
        """SQL for the sum of the digits' values, each times its weight."""
        alphabet, length = self.extra["alphabet"], self.extra["length"]
        first = self.extra.get("first", 1)
        terms = [
            place.format(alphabet=alphabet, digit=f"substr({{0}}, {first + n}, 1)")
            + f" * {weight.format(len(alphabet) ** (length - 1 - n))}"
            for n in range(length)
        ]
        return f"({' + '.join(terms)})"


class LargeIntegerOfDigits(IntegerOfDigits):
    """Like ``IntegerOfDigits`` for up to 160 bits, divided by ``divisor`` and rounded down.

    SQLite has no numbers of this size.
    """

    def postgresql(self, connection: Any) -> str:
        total = self.total("(strpos('{alphabet}', {digit}) - 1)", "{}::numeric")
        return f"div({total}, {{divisor}}::numeric)::bigint"

    def mysql(self, connection: Any) -> str:
        total = self.total(_MYSQL_PLACE, "CAST('{}' AS DECIMAL(60))")
        return f"{total} DIV CAST('{{divisor}}' AS DECIMAL(60))"


class DigitsOfHex(Fragment):
    """``length`` digits in ``alphabet`` of the number that ``size`` hexadecimal digits spell, from
    the digit ``first``, at most 160 bits, times ``scale``; NULL for NULL.
    """

    output_field = TextField()
    sqlite = "sortable_id_digits(substr({0}, {first}, {size}), '{alphabet}', {length}, {scale})"

    def postgresql(self, connection: Any) -> str:
        number = "('x' || substr({{0}}, {first}, {size}))::bit({bits})::bigint * {weight}::numeric"
        digits = self._digits(number, "div(mod({}, {}::numeric), {}::numeric)::int")
        return f"({' || '.join(digits)})"

    def mysql(self, connection: Any) -> str:
        large = "CAST('{}' AS DECIMAL(60))"
        number = "CONV(SUBSTR(REPLACE({{0}}, '-', ''), {first}, {size}), 16, 10)"
        number = f"CAST({number} AS DECIMAL(60)) * {large.format('{weight}')}"
        return f"CONCAT({', '.join(self._digits(number, f'(MOD({{}}, {large}) DIV {large})'))})"

    def _digits(self, piece: str, digit: str) -> Iterator[str]:
        """SQL for each digit, from that of up to 15 hexadecimal digits, times their weight, and
        that of a remainder of the number, divided."""
        first, size, alphabet = (self.extra[name] for name in ("first", "size", "alphabet"))
        base, pieces = len(alphabet), []
        for start, end in pairwise([0, *range(size % 15 or 15, size + 1, 15)]):
            weight, count = 16 ** (size - end) * self.extra["scale"], end - start
            digits = {"first": first + start, "size": count, "bits": 4 * count}
            pieces.append(piece.format(**digits, weight=weight))
        for power in range(self.extra["length"] - 1, -1, -1):
            place = digit.format(f"({' + '.join(pieces)})", base ** (power + 1), base**power)
            yield f"substr('{alphabet}', 1 + {place}, 1)"


def digits_of_hex(digits: str | None, alphabet: str, length: int, scale: int) -> str | None:
    """``sortable_id_digits`` of SQLite, which has no numbers of this size."""
    return _notation(alphabet, length).format(int(digits, 16) * scale) if digits else None


_notation = lru_cache(Notation)


def shortlex(name: str) -> tuple[OrderBy, OrderBy]:
    """Length and value of a field, for ``order_by(*shortlex("number"))``; ``"-number"`` descends.

    ``Index(*shortlex("number"), name=...)`` supports it, if the database has indexes on
    expressions. It is the order of counting if the characters of the sequence are in ASCII order,
    as in all named sets except ``alpha`` and ``alnum``.
    """
    descending = name.startswith("-")
    field = name.removeprefix("-")
    return (OrderBy(Length(field), descending=descending), OrderBy(F(field), descending=descending))
