"""Time in SQL: as the database stores it, as microseconds, and as the tick of an id, a whole number
that counts time since the scheme's epoch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Any

from django.conf import settings
from django.db import NotSupportedError
from django.db.models import BigIntegerField, DateTimeField
from django.db.models.expressions import Expression

from ..fields import SortableIDField
from ..fields.storage import BinaryStorage, IntegerStorage, Storage, TextStorage
from ..schemes import TimeScheme
from ..schemes.clock_and_randomness import UNIX_EPOCH
from ..schemes.layout import ByteFractionTemplate
from ..schemes.text_forms import Digits, Groups, UUIDText
from .bits import DIGIT, WORD, digits_of, tick_runs
from .fragments import Fragment, HexOfBytes, IntegerOfHex, SQLCondition, SQLInteger, SQLText, scaled


class IntegerOfDigits(Fragment):
    """The number that ``length`` characters of a text spell in ``alphabet``, from the character
    ``first``, counted from 1, by default the first one.

    It must fit into 63 bits.
    """

    output_field = BigIntegerField()

    def postgresql(self, connection: Any) -> str:
        return self._total("(strpos('{alphabet}', {digit})::bigint - 1)")

    def sqlite(self, connection: Any) -> str:
        return self._total("(instr('{alphabet}', {digit}) - 1)")

    def mysql(self, connection: Any) -> str:
        # INSTR ignores case except for bytes; on MySQL with any collation of the column.
        place = "(INSTR(_binary'{alphabet}', CAST({digit} AS BINARY)) - 1)"
        return f"CAST({self._total(place)} AS SIGNED)"

    def _total(self, place: str) -> str:
        """SQL for the sum of the digits' values, each times its weight."""
        alphabet, length = self.extra["alphabet"], self.extra["length"]
        first = self.extra.get("first", 1)
        terms = [
            place.format(alphabet=alphabet, digit=f"substr({{0}}, {first + n}, 1)")
            + f" * {len(alphabet) ** (length - 1 - n)}"
            for n in range(length)
        ]
        return f"({' + '.join(terms)})"


class ShiftedRight(Fragment):
    """A number without its last ``bits`` bits, masked with ``mask``."""

    output_field = BigIntegerField()
    postgresql = sqlite = "(({0} >> {bits}) & {mask})"
    # Both operators return unsigned numbers on MariaDB and MySQL, where a difference below 0
    # would be an error.
    mysql = "CAST(({0} >> {bits}) & {mask} AS SIGNED)"


@dataclass(frozen=True)
class HexText:
    """A text that starts with the hexadecimal digits of a stored id."""

    text: Expression
    upper: bool = False
    hyphens: bool = False
    """Whether the text has the hyphens of a UUID."""

    def position(self, digit: int) -> int:
        """The position of a digit in the text; both count from 1."""
        return digit + sum(digit > end for end in (8, 12, 16, 20)) if self.hyphens else digit


def hex_text(column: Expression, stored: Storage, connection: Any, bytes: int) -> HexText:
    """The digits of at least the first ``bytes`` bytes of an id that is not an integer."""
    if isinstance(stored, BinaryStorage):
        return HexText(HexOfBytes(column, bytes=bytes), upper=connection.vendor != "postgresql")
    if isinstance(stored, TextStorage):
        upper = isinstance(stored.form, Digits) and stored.form.alphabet.isupper()
        hyphens = isinstance(stored.form, UUIDText) and stored.form.hyphens
        return HexText(column, upper, hyphens)
    if connection.vendor == "postgresql":
        return HexText(
            SQLText("encode(substr(uuid_send({0}), 1, {bytes}), 'hex')", column, bytes=bytes)
        )
    # MariaDB shows a uuid with hyphens; the other databases store 32 characters.
    return HexText(column, hyphens=connection.features.has_native_uuid_field)


def weighted_sum(
    numbers: Sequence[Expression], weights: Iterable[int], constant: int = 0
) -> Expression:
    terms = [f"{{{n}}} * {by}" if by > 1 else f"{{{n}}}" for n, by in enumerate(weights)]
    terms += [str(constant)] if constant else []
    return numbers[0] if terms == ["{0}"] else SQLInteger(f"({' + '.join(terms)})", *numbers)


def complement(number: Expression, last: int) -> Expression:
    return SQLInteger("({last} - {0})", number, last=last)


def is_of_version(column: Expression, field: SortableIDField, connection: Any) -> Expression:
    """Whether a UUID in a column of the field has the version of the field, and its variant."""
    scheme = field.scheme
    assert isinstance(scheme, TimeScheme)
    text = hex_text(column, field.stored(connection), connection, bytes=9)
    version, variants = f"{scheme.layout.template.version:x}", "'8', '9', 'a', 'b'"
    if text.upper:
        version, variants = version.upper(), variants.upper()
    return SQLCondition(
        f"(substr({{0}}, {text.position(13)}, 1) = '{version}'"
        f" AND substr({{0}}, {text.position(17)}, 1) IN ({variants}))",
        text.text,
    )


def tick_at(microseconds: Expression, scheme: TimeScheme) -> Expression:
    """The tick of a time in microseconds since 1970. The SQL contains the argument once."""
    sql, ticks = f"({{0}} - {scheme.epoch_ns // 1000})", Fraction(1000, scheme.tick_ns)
    return SQLInteger(scaled(sql, ticks, "/"), microseconds, mysql=scaled(sql, ticks, "DIV"))


def tick_of(column: Expression, field: SortableIDField, connection: Any) -> Expression:
    """The tick of an id in a column of the field; NULL for NULL.

    Raises ``NotSupportedError`` if the database has no arithmetic for the column's text.
    """
    scheme = field.scheme
    assert isinstance(scheme, TimeScheme)
    tick = _stored_tick(column, scheme, field.stored(connection), connection)
    if isinstance(scheme.layout.template, ByteFractionTemplate):
        sql = "({0} >> 8) * {fractions} + ({0} & 255)"
        fractions = scheme.layout.template.fractions
        tick = SQLInteger(f"({sql})", tick, mysql=f"CAST({sql} AS SIGNED)", fractions=fractions)
    return complement(tick, scheme.layout.ticks - 1) if scheme.descending else tick


def _stored_tick(
    column: Expression, scheme: TimeScheme, stored: Storage, connection: Any
) -> Expression:
    """The tick as the id contains it: a descending scheme has its complement."""
    layout = scheme.layout
    match stored:
        case IntegerStorage() if layout.suffixes & (layout.suffixes - 1):
            sql, mysql = f"({{0}} / {layout.suffixes})", f"({{0}} DIV {layout.suffixes})"
            return SQLInteger(sql, column, mysql=mysql)
        case IntegerStorage():
            mask = (1 << (layout.ticks - 1).bit_length()) - 1
            return ShiftedRight(column, bits=layout.suffixes.bit_length() - 1, mask=mask)
        case TextStorage(form=Groups(alphabet, groups)):
            return IntegerOfDigits(column, alphabet=alphabet, length=groups[0][0])
        case TextStorage(form=Digits() as form) if len(form.alphabet) != 16:
            return _of_digits(column, scheme, form, connection)
        case TextStorage(form=form) if not isinstance(form, Digits | UUIDText):
            raise NotSupportedError(
                f"{connection.display_name} can't read the time of {scheme.title} from its text, "
                f"{form.expected}: store it as bytes, with storage='binary'"
            )
    return _of_hex(column, scheme, stored, connection)


def _of_hex(column: Expression, scheme: TimeScheme, stored: Storage, connection: Any) -> Expression:
    """The tick in hexadecimal digits: the sum of its parts, each from consecutive bits."""
    size = 8 * scheme.byte_length
    runs = tick_runs(scheme.layout, size)
    last = max(digits_of(run, size)[-1] for run in runs)
    text = hex_text(column, stored, connection, bytes=-(-last // 2))
    tick: Expression | None = None
    for run in runs:
        positions = [text.position(digit) for digit in digits_of(run, size)]
        number: Expression = IntegerOfHex(text.text, positions=positions, upper=text.upper)
        if run.bits < DIGIT * len(positions):
            number = ShiftedRight(number, bits=run.at % DIGIT, mask=(1 << run.bits) - 1)
        tick = weighted_sum([tick, number], [1 << run.bits, 1]) if tick else number
    assert tick is not None
    return tick


def _of_digits(column: Expression, scheme: TimeScheme, form: Digits, connection: Any) -> Expression:
    """The tick in the first digits of a text; it reads the last of these that fit 63 bits."""
    suffix_digits, base = form.count_of_last(scheme.layout.suffixes), len(form.alphabet)
    if not suffix_digits:
        raise NotSupportedError(
            f"{connection.display_name} can't read the time of {scheme.title} from its text, in "
            f"which it shares a digit with other bits: store it as bytes, with storage='binary', "
            f"or read it in Python"
        )
    end = form.length - suffix_digits
    last = min(scheme.layout.last_tick, (1 << WORD) - 1)
    length = next(count for count in range(1, end + 1) if base**count > last or count == end)
    return IntegerOfDigits(column, alphabet=form.alphabet, first=end - length + 1, length=length)


# Points in time


class UnixMicroseconds(Fragment):
    """The microseconds since 1970 of a ``DateTimeField``'s value, without leap seconds."""

    output_field = BigIntegerField()

    # A timestamp without time zone is in the session's time zone, as in Django's comparisons.
    postgresql = "(extract(epoch from ({0})::timestamptz) * 1000000)::bigint"

    def sqlite(self, connection: Any) -> str:
        second, fraction = "substr({0}, 1, 19)", "substr({0}, 21, 6)"
        if connection.timezone_name != "UTC":
            second = f"django_datetime_trunc('second', {{0}}, 'UTC', '{connection.timezone_name}')"
            return _sqlite_microseconds(second, fraction)
        zone = "ltrim(substr({0}, 20), '.0123456789')"
        with_zone = f"substr(replace(substr({{0}}, 20), {zone}, ''), 2)"
        # Most texts have no zone, and the first branch takes a third of the time.
        return (
            "CASE WHEN length({0}) IN (19, 26) AND substr({0}, -1) <> 'Z' "
            f"THEN {_sqlite_microseconds(second, fraction)} "
            f"ELSE {_sqlite_microseconds(f'{second} || {zone}', with_zone)} END"
        )

    def mysql(self, connection: Any) -> str:
        moment = "{0}"
        if connection.timezone_name != "UTC":
            moment = f"CONVERT_TZ({{0}}, '{connection.timezone_name}', 'UTC')"
        return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', {moment})"


def _sqlite_microseconds(second: str, fraction: str) -> str:
    # strftime() rounds a fraction of six digits, even up to the next second.
    return (
        f"(CAST(strftime('%%s', {second}) AS INTEGER) * 1000000"
        f" + CAST(substr({fraction} || '000000', 1, 6) AS INTEGER))"
    )


class UnixMicrosecondsNow(Fragment):
    """The microseconds since 1970 of the clock.

    PostgreSQL, MariaDB and MySQL read it for every row; SQLite once per statement, in milliseconds.
    """

    output_field = BigIntegerField()
    postgresql = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
    sqlite = "(CAST(strftime('%%s', 'now') || substr(strftime('%%f', 'now'), 4) AS INTEGER) * 1000)"
    # UTC_TIMESTAMP is the statement's time; SYSDATE is the row's, in the session's time zone.
    mysql = (
        "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
        " + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)))"
    )


class StatementMicroseconds(UnixMicrosecondsNow):
    """Like ``UnixMicrosecondsNow``, but once per statement everywhere: for repeated use in SQL."""

    postgresql = "(extract(epoch from statement_timestamp()) * 1000000)::bigint"
    mysql = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))"


class MomentOfTick(Fragment):
    """The time of a tick as a ``DateTimeField``'s value, floored to the microsecond.

    ``epoch_us`` is the Unix time of tick 0 in microseconds, ``tick_ns`` the length of a tick in ns.
    The SQL uses whole numbers only: floating-point intervals lose microseconds.
    """

    output_field = DateTimeField()

    def postgresql(self, connection: Any) -> str:
        elapsed = self._elapsed("/")
        sql = f"timestamp '{self._epoch}' + {elapsed} / 1000000 * interval '1 second'"
        if self.extra["tick_ns"] % 1_000_000_000:
            sql += f" + mod({elapsed}, 1000000) * interval '1 microsecond'"
        return postgresql_value(f"({sql}) AT TIME ZONE 'UTC'", connection)

    def sqlite(self, connection: Any) -> str:
        # Like Django: no fraction if it is zero.
        tick_ns, epoch_us = self.extra["tick_ns"], self.extra["epoch_us"]
        if tick_ns % 1_000_000 == 0 and epoch_us % 1000 == 0:
            milliseconds = f"({{0}} * {tick_ns // 1_000_000} + {epoch_us // 1000})"
            sql = f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {milliseconds} / 1000.0, 'unixepoch')"
            sql += " || '000'"
        else:
            seconds, fraction = divmod(epoch_us, 1_000_000)
            elapsed = f"({self._elapsed('/')} + {fraction})"
            second = f"{elapsed} / 1000000 + {seconds}"
            sql = f"strftime('%%Y-%%m-%%d %%H:%%M:%%S', {second}, 'unixepoch')"
            sql += f" || printf('.%%06d', {elapsed} %% 1000000)"
        sql, zone = f"replace({sql}, '.000000', '')", connection.timezone_name
        if zone == "UTC":
            return sql
        return f"(django_datetime_trunc('second', {sql}, '{zone}', 'UTC') || substr({sql}, 20))"

    def mysql(self, connection: Any) -> str:
        sql = f"(TIMESTAMP'{self._epoch}' + INTERVAL ({self._elapsed('DIV')}) MICROSECOND)"
        if connection.timezone_name != "UTC":
            sql = f"CONVERT_TZ({sql}, 'UTC', '{connection.timezone_name}')"
        return sql

    def _elapsed(self, division: str) -> str:
        return scaled("{0}", Fraction(self.extra["tick_ns"], 1000), division)

    @property
    def _epoch(self) -> str:
        epoch = UNIX_EPOCH + timedelta(microseconds=self.extra["epoch_us"])
        # Not with %Y, which writes the year 1 as "1": for PostgreSQL that is 2001.
        return epoch.replace(tzinfo=None).isoformat(" ", "microseconds")


def postgresql_value(moment: str, connection: Any) -> str:
    """A ``timestamptz`` in the type of the project's columns: with a zone, or local without."""
    if settings.USE_TZ:
        return f"({moment})"
    return f"({moment} AT TIME ZONE '{connection.timezone_name}')"
