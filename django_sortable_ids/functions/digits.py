"""Digits of alphabets other than hexadecimal: Crockford's base 32, base 36, base 62 and so on."""

from typing import Any

from django.db.models import BigIntegerField, F, TextField
from django.db.models.expressions import OrderBy
from django.db.models.functions import Length

from .fragments import Fragment

# INSTR ignores case except for bytes; on MySQL with any collation of the column.
_MYSQL_PLACE = "(INSTR(_binary'{alphabet}', CAST({digit} AS BINARY)) - 1)"


class DigitsOfInteger(Fragment):
    """The last ``length`` digits of a number >= 0 in ``alphabet``.

    The SQL contains the argument once per digit.
    """

    output_field = TextField()

    def postgresql(self, connection: Any) -> str:
        return " || ".join(self._digits("substr('{alphabet}', 1 + mod({{0}} / {}, {})::int, 1)"))

    def sqlite(self, connection: Any) -> str:
        return " || ".join(self._digits("substr('{alphabet}', 1 + ({{0}}) / {} %% {}, 1)"))

    def mysql(self, connection: Any) -> str:
        digits = self._digits("SUBSTR('{alphabet}', 1 + ({{0}}) DIV {} MOD {}, 1)")
        return f"CONCAT({', '.join(digits)})"

    def _digits(self, digit: str) -> list[str]:
        alphabet, base = self.extra["alphabet"], len(self.extra["alphabet"])
        powers = range(self.extra["length"] - 1, -1, -1)
        return [digit.format(base**power, base, alphabet=alphabet) for power in powers]


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


def shortlex(name: str) -> tuple[OrderBy, OrderBy]:
    """Length and value of a field, for ``order_by(*shortlex("number"))``; ``"-number"`` descends.

    ``Index(*shortlex("number"), name=...)`` supports it, if the database has indexes on
    expressions. It is the order of counting if the characters of the sequence are in ASCII order,
    as in all named sets except ``alpha`` and ``alnum``.
    """
    descending = name.startswith("-")
    field = name.removeprefix("-")
    return (OrderBy(Length(field), descending=descending), OrderBy(F(field), descending=descending))
