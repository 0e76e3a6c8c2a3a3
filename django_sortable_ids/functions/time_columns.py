"""What the values of a column of times mean, and how the database compares them.

A *place* is a time in the form of its column: usually a ``datetime`` as the ORM returns it; on
SQLite the stored text; for PostgreSQL a naive ``datetime`` for ``timestamp`` and an aware one in
UTC for ``timestamptz``.

SQLite compares texts. Django writes ``2024-05-01 23:00:00`` or ``2024-05-01 23:00:00.123456``.
These sort by time, with any number of digits. Django reads more forms, such as those with a zone.
"""

from __future__ import annotations

from datetime import MAXYEAR, UTC, datetime, timedelta, tzinfo
from typing import Any

from django.conf import settings
from django.db import connections, models
from django.db.models import DateTimeField, F, TextField
from django.db.models.expressions import Expression, RawSQL
from django.db.models.functions import Cast
from django.utils import timezone

from ..db.tables import column_info
from ..errors import BackfillError
from ..fields.times import aware
from ..schemes import TimeScheme
from ..schemes.clock_and_randomness import MICROSECOND, UNIX_EPOCH
from .ticks import UnixMicroseconds

_NAIVE_EPOCH = UNIX_EPOCH.replace(tzinfo=None)


class TimeColumn:
    """A column that the ORM reads and compares correctly."""

    def __init__(self, source: models.Field[Any, Any], using: str) -> None:
        self.source = source
        self.connection: Any = connections[using]

    @property
    def selected(self) -> Expression | str:
        return self.source.name

    @property
    def knows_utc(self) -> bool:
        """Whether the database knows the instant of each value.

        If not, Python converts local times: servers convert them only until 2037, if at all, and
        clock changes put local times out of order.
        """
        has_instants = self.connection.vendor == "postgresql" and self.clock is None
        return has_instants or bool(self.connection.timezone_name == "UTC")

    @property
    def clock(self) -> tzinfo | None:
        """The time zone whose local times the column stores; None if it stores instants."""
        if self.connection.vendor == "postgresql" and settings.USE_TZ:
            return None
        zone: tzinfo = self.connection.timezone or timezone.get_default_timezone()
        return zone

    @property
    def resolution(self) -> timedelta:
        """The smallest difference between two stored times."""
        table, column = self.source.model._meta.db_table, str(self.source.column)
        info = column_info(self.connection, table, column)
        digits = 6 if info is None or info.digits is None else int(info.digits)
        return timedelta(microseconds=10 ** (6 - digits))

    @property
    def meaning(self) -> str:
        """How the values are read, for people; empty if that is unambiguous."""
        if settings.USE_TZ:
            return ""
        return f"{self.source.name} is naive (USE_TZ=False) and is read as {settings.TIME_ZONE}"

    def at(self, place: Any) -> datetime:
        """The instant (aware) of a place."""
        return aware(place)

    def unix(self, place: Any) -> int:
        """The Unix time of a place in microseconds."""
        return (self.at(place) - UNIX_EPOCH) // MICROSECOND

    def place_at(self, at: datetime) -> Any:
        """The place of an instant (aware)."""
        zone = self.connection.timezone
        if zone and settings.USE_TZ:
            try:
                at.astimezone(zone)
            except OverflowError:
                return datetime.max.replace(tzinfo=zone)
        return _or_last_day(as_stored, at)

    def operand(self, place: Any) -> Any:
        """The value with which the ORM compares the column."""
        return place

    def parameter(self, place: Any) -> Any:
        """The value that is passed to the driver."""
        return self.source.get_db_prep_value(place, self.connection)

    def load(self, saved: str) -> Any:
        """A place that was saved as text."""
        place = datetime.fromisoformat(saved)
        if timezone.is_naive(place) is settings.USE_TZ:
            return as_stored(aware(place))
        return place


class NaiveColumn(TimeColumn):
    """A ``timestamp`` of PostgreSQL with ``USE_TZ=True``, such as in a model from ``inspectdb``.
    Django compares its values in the time zone of the session."""

    @property
    def clock(self) -> tzinfo | None:
        zone: tzinfo = self.connection.timezone
        return zone

    @property
    def meaning(self) -> str:
        zone = self.connection.timezone_name
        return f"{self.source.name} is a timestamp without time zone and is read as {zone}"

    def at(self, place: datetime) -> datetime:
        # PostgreSQL reads a time that a clock change repeats or skips as standard time.
        zone = self.connection.timezone
        candidates = [place.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
        return min(candidates, key=lambda at: at.utcoffset() or timedelta()).astimezone(UTC)

    def place_at(self, at: datetime) -> datetime:
        return _or_last_day(lambda at: timezone.make_naive(at, self.connection.timezone), at)

    def operand(self, place: datetime) -> Expression:
        # Cast to the column's type: Django would treat a naive value as a time in TIME_ZONE.
        return RawSQL("%s::timestamp", (place,), output_field=DateTimeField())

    def parameter(self, place: datetime) -> datetime:
        return place

    def load(self, saved: str) -> datetime:
        place = datetime.fromisoformat(saved)
        return place if timezone.is_naive(place) else self.place_at(place)


class InstantColumn(TimeColumn):
    """A ``timestamptz`` of PostgreSQL, read as a number: its text is ambiguous in an hour that a
    clock change of the session repeats, and takes the driver longer."""

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
    """Unix microseconds in the database, an aware time in Python."""

    def from_db_value(self, value: int | None, *_: Any) -> datetime | None:
        return None if value is None else UNIX_EPOCH + value * MICROSECOND


class TextColumn(TimeColumn):
    """A column of SQLite, which stores and compares times as text. Rows are compared with the text
    of another row, because one time has several: 23:00:00 and 23:00:00.000."""

    resolution = MICROSECOND

    @property
    def selected(self) -> Expression:
        # As text: otherwise the driver converts each value to a datetime.
        return Cast(F(self.source.name), TextField())

    def at(self, place: str) -> datetime:
        try:
            at = self.connection.ops.convert_datetimefield_value(place, None, self.connection)
        except (TypeError, ValueError, AttributeError) as error:
            raise BackfillError(f"{self.source.name} {place!r} is no time: {error}") from error
        if at is None:
            raise BackfillError(f"{self.source.name} {place!r} is no time: correct it")
        return aware(at)

    def unix(self, place: str) -> int:
        if self.connection.timezone_name == "UTC":
            try:
                at = datetime.fromisoformat(place)
            except ValueError:
                pass
            else:
                return (at - (UNIX_EPOCH if at.tzinfo else _NAIVE_EPOCH)) // MICROSECOND
        return super().unix(place)

    def place_at(self, at: datetime) -> str:
        """A text that sorts after all earlier times, and not after any text of that time."""
        zone = self.connection.timezone or timezone.get_default_timezone()
        local = _or_last_day(lambda at: at.astimezone(zone), at)
        text = local.replace(tzinfo=None).isoformat(" ")
        return text.rstrip("0") if local.microsecond else text

    def operand(self, place: str) -> Expression:
        return RawSQL("%s", (place,), output_field=TextField())

    def parameter(self, place: str) -> str:
        return place

    def load(self, saved: str) -> str:
        return saved


def column_of(source: models.Field[Any, Any], using: str) -> TimeColumn:
    """The ``TimeColumn`` that fits the field and the type of its column in the database."""
    connection: Any = connections[using]
    if not isinstance(source, DateTimeField) or hasattr(source, "from_db_value"):
        return TimeColumn(source, using)
    if connection.vendor == "sqlite":
        return TextColumn(source, using)
    if connection.vendor == "postgresql":
        info = column_info(connection, source.model._meta.db_table, str(source.column))
        match info and info.kind:
            case "timestamp without time zone" if settings.USE_TZ:
                return NaiveColumn(source, using)
            case "timestamp with time zone":
                return InstantColumn(source, using)
    return TimeColumn(source, using)


def as_stored(at: datetime) -> datetime:
    """An aware time in the form of the ORM: the inverse of ``aware``."""
    if settings.USE_TZ:
        return at
    return _or_last_day(lambda at: timezone.make_naive(at, timezone.get_default_timezone()), at)


def _or_last_day(convert: Any, at: datetime) -> datetime:
    try:
        converted: datetime = convert(at)
    except OverflowError:
        # The time zone shifts the last day out of the calendar.
        return at.replace(tzinfo=None)
    return converted


def time_range(scheme: TimeScheme) -> tuple[datetime, datetime]:
    """The first time of the scheme and its end (exclusive), both aware."""
    # The last tick of year 9999 is left out: no datetime can represent its end.
    last, tick = scheme.latest, timedelta(microseconds=max(scheme.tick_ns // 1000, 1))
    return scheme.earliest, last if last.year == MAXYEAR else last + tick
