"""Every flight that left New York in 2013, in an application that got sortable ids later.

The tables are those of migration 0001, with integer keys; 0002 and 0003 give flights and weather
reports an id, and ``Remark``, which came after, has one from birth.
"""

from datetime import datetime

from django.db import models
from django.urls import reverse

from django_sortable_ids import ids
from django_sortable_ids.fields import ULIDField, UUIDv7Field


class Airline(models.Model):
    code = models.CharField(max_length=2, unique=True)
    name = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.name


class Airport(models.Model):
    code = models.CharField(max_length=3, unique=True)
    name = models.CharField(max_length=100)
    latitude = models.FloatField()
    longitude = models.FloatField()
    altitude = models.IntegerField(help_text="In feet.")
    utc_offset = models.SmallIntegerField(help_text="In hours.")
    dst = models.CharField("daylight saving time", max_length=1)
    time_zone = models.CharField(max_length=50, blank=True)

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


class Plane(models.Model):
    tail_number = models.CharField(max_length=6, unique=True)
    year = models.PositiveSmallIntegerField(null=True, blank=True)
    type = models.CharField(max_length=50)
    manufacturer = models.CharField(max_length=50)
    model = models.CharField(max_length=50)
    engines = models.PositiveSmallIntegerField()
    seats = models.PositiveSmallIntegerField()
    speed = models.PositiveSmallIntegerField(null=True, blank=True, help_text="In mph.")
    engine = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.tail_number


class Weather(models.Model):
    """An hour of weather at one of the three airports of New York."""

    public_id = ULIDField(unique=True, prefix="weather")
    origin = models.ForeignKey(Airport, models.PROTECT)
    time_hour = models.DateTimeField(db_index=True)
    temperature = models.FloatField(null=True, blank=True, help_text="In °F.")
    dew_point = models.FloatField(null=True, blank=True, help_text="In °F.")
    humidity = models.FloatField(null=True, blank=True, help_text="In percent.")
    wind_direction = models.PositiveSmallIntegerField(null=True, blank=True, help_text="In °.")
    wind_speed = models.FloatField(null=True, blank=True, help_text="In mph.")
    wind_gust = models.FloatField(null=True, blank=True, help_text="In mph.")
    precipitation = models.FloatField(help_text="In inches.")
    pressure = models.FloatField(null=True, blank=True, help_text="In millibars.")
    visibility = models.FloatField(help_text="In miles.")

    class Meta:
        verbose_name_plural = "weather"

    def __str__(self) -> str:
        return f"Weather {self.pk}"


class Flight(models.Model):
    """A flight. Times of day are local, as the digits of a clock: 1745 is a quarter to six.

    The relations to ``Airport`` and ``Plane`` are empty where the data has no such row, so the
    codes are kept beside them.
    """

    public_id = UUIDv7Field(unique=True, prefix="flight", encoding="base32")
    airline = models.ForeignKey(Airline, models.PROTECT)
    number = models.PositiveSmallIntegerField()
    origin = models.ForeignKey(Airport, models.PROTECT, related_name="departures")
    destination = models.ForeignKey(
        Airport, models.PROTECT, null=True, blank=True, related_name="arrivals"
    )
    destination_code = models.CharField(max_length=3)
    plane = models.ForeignKey(Plane, models.PROTECT, null=True, blank=True)
    tail_number = models.CharField(max_length=6, blank=True)
    time_hour = models.DateTimeField("hour of departure, as scheduled", db_index=True)
    scheduled_departure = models.PositiveSmallIntegerField()
    departure = models.PositiveSmallIntegerField(null=True, blank=True)
    departure_delay = models.SmallIntegerField(null=True, blank=True, help_text="In minutes.")
    scheduled_arrival = models.PositiveSmallIntegerField()
    arrival = models.PositiveSmallIntegerField(null=True, blank=True)
    arrival_delay = models.SmallIntegerField(null=True, blank=True, help_text="In minutes.")
    air_time = models.PositiveSmallIntegerField(null=True, blank=True, help_text="In minutes.")
    distance = models.PositiveSmallIntegerField(help_text="In miles.")

    def __str__(self) -> str:
        return f"{self.airline.code} {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("flight-detail", args=[ids.public_id(self, "public_id")])

    @property
    def created_at(self) -> datetime | None:
        return ids.created_at(self, "public_id")


class Remark(models.Model):
    """What somebody wrote about a flight; it points to the flight's new id."""

    id = ULIDField(primary_key=True, prefix="remark")
    flight = models.ForeignKey(Flight, models.CASCADE, to_field="public_id")
    text = models.CharField(max_length=500)

    def __str__(self) -> str:
        return self.text

    def get_absolute_url(self) -> str:
        return reverse("remark-detail", args=[ids.public_id(self)])

    @property
    def created_at(self) -> datetime | None:
        return ids.created_at(self)
