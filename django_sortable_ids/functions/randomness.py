"""Random values in SQL, from each database's best source, and new ones for every row.

PostgreSQL's ``gen_random_uuid()``, MariaDB's and MySQL's ``RANDOM_BYTES`` and SQLite's
``randomblob`` are seeded by the operating system. ``random()`` and ``RAND()`` of the first three
are not fit for ids.
"""

from functools import lru_cache
from math import comb
from typing import Any

from django.db import NotSupportedError
from django.db.models import BigIntegerField, TextField

from .fragments import Compiled, Fragment

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


class RandomDigits(Random):
    """``length`` digits of ``alphabet``, which has at most 64 characters.

    All digits are equally likely, whatever the alphabet's size.
    """

    output_field = TextField()

    def sqlite(self, connection: Any) -> str:
        alphabet = self.extra["alphabet"]
        digit = f"substr('{alphabet}', 1 + abs(random() %% {len(alphabet)}), 1)"
        return " || ".join([digit] * self.extra["length"])

    def postgresql(self, connection: Any) -> str:
        alphabet, length = self.extra["alphabet"], self.extra["length"]
        targets = alphabet * (64 // len(alphabet))
        block = "encode(substring(uuid_send(gen_random_uuid()) from 11 for 6), 'base64')"
        drawn = " || ".join([block] * -(-_drawn(length, len(targets)) // 8))
        return f"left(translate({drawn}, '{_BASE64}', '{targets}'), {{length}})"

    def mysql(self, connection: Any) -> str:
        alphabet, length = self.extra["alphabet"], self.extra["length"]
        base, drawn = len(alphabet), _drawn(length, len(alphabet))
        # TO_BASE64 breaks lines of 76 digits.
        if 64 % base == 0 or drawn > 72 or not set(alphabet) <= set(_BASE64):
            number = f"CAST(CONV(HEX(RANDOM_BYTES(6)), 16, 10) AS UNSIGNED) MOD {base}"
            if 64 % base == 0:
                number = f"(ASCII(RANDOM_BYTES(1)) & {base - 1})"
            digit = f"SUBSTR('{alphabet}', 1 + {number}, 1)"
            return f"CONCAT({', '.join([digit] * length)})"
        text = f"TO_BASE64(RANDOM_BYTES({-(-drawn // 4) * 3}))"
        for digit in sorted(set(_BASE64) - set(alphabet)):
            text = f"REPLACE({text}, '{digit}', '')"
        return f"LEFT({text}, {{length}})"


@lru_cache
def _drawn(length: int, kept: int) -> int:
    """How many base 64 digits to draw so that ``length`` are left of them, of which ``kept`` of 64
    are used: so many that too few are left once in 2**64 draws."""
    count = length
    while (
        sum(comb(count, n) * kept**n * (64 - kept) ** (count - n) for n in range(length)) << 64
        > 64**count
    ):
        count += 1
    return count


_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
