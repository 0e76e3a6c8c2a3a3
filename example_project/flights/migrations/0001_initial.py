"""The tables as they were before: integer keys, and time_hour as the creation time."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


class Migration(migrations.Migration):
    initial = True

    operations = [
        migrations.CreateModel(
            name="Airline",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.CharField(max_length=2, unique=True)),
                ("name", models.CharField(max_length=100)),
            ],
        ),
        migrations.CreateModel(
            name="Airport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.CharField(max_length=3, unique=True)),
                ("name", models.CharField(max_length=100)),
                ("latitude", models.FloatField()),
                ("longitude", models.FloatField()),
                ("altitude", models.IntegerField(help_text="In feet.")),
                ("utc_offset", models.SmallIntegerField(help_text="In hours.")),
                ("dst", models.CharField(max_length=1, verbose_name="daylight saving time")),
                ("time_zone", models.CharField(blank=True, max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Plane",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tail_number", models.CharField(max_length=6, unique=True)),
                ("year", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("type", models.CharField(max_length=50)),
                ("manufacturer", models.CharField(max_length=50)),
                ("model", models.CharField(max_length=50)),
                ("engines", models.PositiveSmallIntegerField()),
                ("seats", models.PositiveSmallIntegerField()),
                (
                    "speed",
                    models.PositiveSmallIntegerField(blank=True, help_text="In mph.", null=True),
                ),
                ("engine", models.CharField(max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Flight",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("destination_code", models.CharField(max_length=3)),
                ("tail_number", models.CharField(blank=True, max_length=6)),
                (
                    "time_hour",
                    models.DateTimeField(
                        db_index=True, verbose_name="hour of departure, as scheduled"
                    ),
                ),
                ("scheduled_departure", models.PositiveSmallIntegerField()),
                ("departure", models.PositiveSmallIntegerField(blank=True, null=True)),
                (
                    "departure_delay",
                    models.SmallIntegerField(blank=True, help_text="In minutes.", null=True),
                ),
                ("scheduled_arrival", models.PositiveSmallIntegerField()),
                ("arrival", models.PositiveSmallIntegerField(blank=True, null=True)),
                (
                    "arrival_delay",
                    models.SmallIntegerField(blank=True, help_text="In minutes.", null=True),
                ),
                (
                    "air_time",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="In minutes.", null=True
                    ),
                ),
                ("distance", models.PositiveSmallIntegerField(help_text="In miles.")),
                ("airline", models.ForeignKey(on_delete=PROTECT, to="flights.airline")),
                (
                    "destination",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=PROTECT,
                        related_name="arrivals",
                        to="flights.airport",
                    ),
                ),
                (
                    "origin",
                    models.ForeignKey(
                        on_delete=PROTECT, related_name="departures", to="flights.airport"
                    ),
                ),
                (
                    "plane",
                    models.ForeignKey(blank=True, null=True, on_delete=PROTECT, to="flights.plane"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Weather",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("time_hour", models.DateTimeField(db_index=True)),
                ("temperature", models.FloatField(blank=True, help_text="In °F.", null=True)),
                ("dew_point", models.FloatField(blank=True, help_text="In °F.", null=True)),
                ("humidity", models.FloatField(blank=True, help_text="In percent.", null=True)),
                (
                    "wind_direction",
                    models.PositiveSmallIntegerField(blank=True, help_text="In °.", null=True),
                ),
                ("wind_speed", models.FloatField(blank=True, help_text="In mph.", null=True)),
                ("wind_gust", models.FloatField(blank=True, help_text="In mph.", null=True)),
                ("precipitation", models.FloatField(help_text="In inches.")),
                ("pressure", models.FloatField(blank=True, help_text="In millibars.", null=True)),
                ("visibility", models.FloatField(help_text="In miles.")),
                ("origin", models.ForeignKey(on_delete=PROTECT, to="flights.airport")),
            ],
            options={
                "verbose_name_plural": "weather",
            },
        ),
    ]
