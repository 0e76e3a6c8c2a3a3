"""Points in time as the database stores them, and as whole numbers."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

from django.conf import settings
from django.db.models import BigIntegerField, DateTimeField

from ..schemes.generation.clock import UNIX_EPOCH
from .fragments import Fragment, scaled


class UnixMicroseconds(Fragment):
    """The microseconds since 1970 of a ``DateTimeField``'s value, without leap seconds."""

    output_field = BigIntegerField()

    def postgresql(self, connection: Any) -> str:
        # A timestamp without time zone is in the session's time zone, as in Django's comparisons.
        return "(extract(epoch from ({0})::timestamptz) * 1000000)::bigint"

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
        sql = f"replace({self._sqlite_digits()}, '.000000', '')"
        if connection.timezone_name != "UTC":
            zone = connection.timezone_name
            sql = f"(django_datetime_trunc('second', {sql}, '{zone}', 'UTC') || substr({sql}, 20))"
        return sql

    def _sqlite_digits(self) -> str:
        tick_ns, epoch_us = self.extra["tick_ns"], self.extra["epoch_us"]
        if tick_ns % 1_000_000 == 0 and epoch_us % 1000 == 0:
            milliseconds = f"({{0}} * {tick_ns // 1_000_000} + {epoch_us // 1000})"
            text = f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {milliseconds} / 1000.0, 'unixepoch')"
            return f"{text} || '000'"
        seconds, fraction = divmod(epoch_us, 1_000_000)
        elapsed = f"({self._elapsed('/')} + {fraction})"
        text = f"strftime('%%Y-%%m-%%d %%H:%%M:%%S', {elapsed} / 1000000 + {seconds}, 'unixepoch')"
        return f"{text} || printf('.%%06d', {elapsed} %% 1000000)"

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
