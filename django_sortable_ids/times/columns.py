"""What the values of a column of times mean, and how the database compares them.

A *place* is a time as the column has it: a ``datetime`` as the ORM gives it, the row's own text on
SQLite, a naive ``datetime`` of a ``timestamp`` column of PostgreSQL, an aware one in UTC of a
``timestamptz``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from django.conf import settings
from django.db import connections, models
from django.db.models import DateTimeField, F, TextField
from django.db.models.expressions import Expression, RawSQL
from django.db.models.functions import Cast
from django.utils import timezone

from ..db.introspection import time_digits
from ..errors import BackfillError
from ..functions.moments import UnixMicroseconds
from ..schemes.generation.clock import MICROSECOND, UNIX_EPOCH
from .spelling import DJANGO, Spelling, spelling_of

_WITHOUT_ZONE, _WITH_ZONE = 1114, 1184
"""The OIDs of PostgreSQL's ``timestamp`` and ``timestamptz``."""


class TimeColumn:
    """A column whose values and comparisons are those of the ORM."""

    def __init__(self, source: models.Field[Any, Any], using: str) -> None:
        self.source = source
        self.connection: Any = connections[using]

    @property
    def selected(self) -> Expression | str:
        """What a query selects to get places."""
        return self.source.name

    @property
    def knows_utc(self) -> bool:
        """Whether the database knows the instant of each value. Local times are Python's: servers
        convert them until 2037, if at all, and clock changes bring them out of order.
        """
        if self.connection.vendor == "postgresql" and settings.USE_TZ:
            return True
        return bool(self.connection.timezone_name == "UTC")

    @property
    def clock(self) -> tzinfo | None:
        """Whose local times its values are; None where they are instants."""
        if self.connection.vendor == "postgresql" and settings.USE_TZ:
            return None
        zone: tzinfo = self.connection.timezone or timezone.get_default_timezone()
        return zone

    def local(self, at: datetime) -> Expression:
        """What the column is compared with for a local time, which no instant may have."""
        types = {"postgresql": "timestamp", "mysql": "datetime(6)"}
        sql = f"CAST(%s AS {types[self.connection.vendor]})"
        return RawSQL(sql, (at.isoformat(" "),), output_field=DateTimeField())

    @property
    def resolution(self) -> timedelta:
        """The least difference of two of its times."""
        table, column = self.source.model._meta.db_table, str(self.source.column)
        return _second_with(time_digits(self.connection, table, column))

    @property
    def meaning(self) -> str:
        """What its values mean, for people; empty where that is plain."""
        if settings.USE_TZ:
            return ""
        return f"{self.source.name} is naive (USE_TZ=False) and is read as {settings.TIME_ZONE}"

    def at(self, place: Any) -> datetime:
        """The instant of a place, aware."""
        return aware(place)

    def place_at(self, at: datetime) -> Any:
        """The place of an instant (aware)."""
        return _or_last_day(as_stored, at)

    def operand(self, place: Any) -> Any:
        """What the ORM compares the column with."""
        return place

    def parameter(self, place: Any) -> Any:
        """What the driver is given."""
        return self.source.get_db_prep_value(place, self.connection)

    def load(self, saved: str) -> Any:
        """A place that was kept as text."""
        place = datetime.fromisoformat(saved)
        if timezone.is_naive(place) is settings.USE_TZ:
            return as_stored(aware(place))
        return place


class NaiveColumn(TimeColumn):
    """A ``timestamp`` of PostgreSQL under ``USE_TZ=True``, as ``inspectdb`` makes a
    ``DateTimeField`` of it: Django compares its values in the time zone of the session.
    """

    @property
    def knows_utc(self) -> bool:
        return bool(self.connection.timezone_name == "UTC")

    @property
    def clock(self) -> tzinfo | None:
        zone: tzinfo = self.connection.timezone
        return zone

    @property
    def meaning(self) -> str:
        zone = self.connection.timezone_name
        return f"{self.source.name} is a timestamp without time zone and is read as {zone}"

    def at(self, place: datetime) -> datetime:
        # As PostgreSQL: what a clock change repeats or skips is winter time.
        zone = self.connection.timezone
        readings = [place.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
        return min(readings, key=lambda at: at.utcoffset() or timedelta()).astimezone(UTC)

    def place_at(self, at: datetime) -> datetime:
        return _or_last_day(lambda at: timezone.make_naive(at, self.connection.timezone), at)

    def operand(self, place: datetime) -> Expression:
        # Of its own type: Django would take a naive value for one of TIME_ZONE.
        return RawSQL("%s::timestamp", (place,), output_field=DateTimeField())

    def parameter(self, place: datetime) -> datetime:
        return place

    def load(self, saved: str) -> datetime:
        place = datetime.fromisoformat(saved)
        return place if timezone.is_naive(place) else self.place_at(place)


class InstantColumn(TimeColumn):
    """A ``timestamptz`` of PostgreSQL in a session whose clock may change: what Django reads names
    two instants in an hour that the clock repeats, and so does what it compares.
    """

    knows_utc = True
    meaning = ""
    clock = None

    @property
    def selected(self) -> Expression:
        return UnixMicroseconds(F(self.source.name), output_field=_Instant())

    def place_at(self, at: datetime) -> datetime:
        return at

    def load(self, saved: str) -> datetime:
        return aware(datetime.fromisoformat(saved)).astimezone(UTC)


class _Instant(models.BigIntegerField):  # type: ignore[type-arg]
    """Unix microseconds, as an aware time."""

    def from_db_value(self, value: int | None, *_: Any) -> datetime | None:
        return None if value is None else UNIX_EPOCH + value * MICROSECOND


class TextColumn(TimeColumn):
    """SQLite keeps and compares texts. A row is compared with the text of another row, since one
    time has several spellings.
    """

    def __init__(self, source: models.Field[Any, Any], using: str) -> None:
        super().__init__(source, using)
        self.spelling = self._first_spelling()

    @property
    def clock(self) -> tzinfo | None:
        return None if self.spelling.zone else super().clock

    def local(self, at: datetime) -> Expression:
        return self.operand(self.spelling.bound(at.replace(tzinfo=UTC), UTC))

    @property
    def resolution(self) -> timedelta:
        digits = self.spelling.fraction
        return MICROSECOND if digits is None else _second_with(digits)

    @property
    def selected(self) -> Expression:
        # As text, or the driver would make a datetime of each.
        return Cast(F(self.source.name), TextField())

    def at(self, place: str) -> datetime:
        try:
            found = self.connection.ops.convert_datetimefield_value(place, None, self.connection)
        except (TypeError, ValueError, AttributeError) as error:
            raise BackfillError(f"{place!r} in {self.source.name} is no time: {error}") from error
        if found is None:
            raise BackfillError(f"{place!r} in {self.source.name} is no time that Django can read")
        return aware(found)

    def place_at(self, at: datetime) -> str:
        zone = self.connection.timezone or timezone.get_default_timezone()
        return self.spelling.bound(at, zone)

    def operand(self, place: str) -> Expression:
        return RawSQL("%s", (place,), output_field=TextField())

    def parameter(self, place: str) -> str:
        return place

    def load(self, saved: str) -> str:
        if spelling_of(saved) in (self.spelling, DJANGO):
            return saved
        return self.place_at(self.at(saved))

    def _first_spelling(self) -> Spelling:
        """That of the row with the first key; that all have it is checked by the plan."""
        model = self.source.model
        rows = models.QuerySet[Any](model, using=self.connection.alias)
        # The source's own name: that of a column of a related row has the whole path.
        name = self.source.attname
        named = rows.filter(**{f"{name}__isnull": False}).order_by("pk")
        text = named.values_list(Cast(name, TextField()), flat=True).first()
        return spelling_of(text) or DJANGO


def column_of(source: models.Field[Any, Any], using: str) -> TimeColumn:
    """What the values of that column mean, as the database has it."""
    connection: Any = connections[using]
    if not isinstance(source, DateTimeField) or hasattr(source, "from_db_value"):
        return TimeColumn(source, using)
    if connection.vendor == "sqlite":
        return TextColumn(source, using)
    if connection.vendor == "postgresql":
        kind = _type_of(source, connection)
        if kind == _WITHOUT_ZONE and settings.USE_TZ:
            return NaiveColumn(source, using)
        if kind == _WITH_ZONE and connection.timezone_name != "UTC":
            return InstantColumn(source, using)
    return TimeColumn(source, using)


def _type_of(source: models.Field[Any, Any], connection: Any) -> int | None:
    """The OID of a column's type on PostgreSQL."""
    table = connection.ops.quote_name(source.model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT atttypid FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s",
            [table, source.column],
        )
        found = cursor.fetchone()
    return found[0] if found else None


def aware(at: datetime) -> datetime:
    """A time of the ORM; naive ones, with ``USE_TZ=False``, are of ``TIME_ZONE``."""
    return timezone.make_aware(at, timezone.get_default_timezone()) if timezone.is_naive(at) else at


def as_stored(at: datetime) -> datetime:
    """An aware time as the ORM gives times: the inverse of ``aware``."""
    if settings.USE_TZ:
        return at
    return timezone.make_naive(at, timezone.get_default_timezone())


def _second_with(digits: int) -> timedelta:
    """The unit of the last digit of a second's fraction."""
    return timedelta(microseconds=10 ** (6 - digits))


def _or_last_day(convert: Any, at: datetime) -> datetime:
    try:
        converted: datetime = convert(at)
    except OverflowError:
        # The last day of the calendar, shifted out of it by the zone.
        return at.replace(tzinfo=None)
    return converted


def zone_of_naive_times(using: str) -> str | None:
    """Whose local times naive ones are; None for UTC."""
    if not settings.USE_TZ:
        return settings.TIME_ZONE
    session: str = connections[using].timezone_name
    return None if session == "UTC" else session
