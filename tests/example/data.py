"""A small data set in the format of nycflights13, with its ties and its gaps."""

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

NEW_YORK = ZoneInfo("America/New_York")
FIRST_DAY = date(2013, 7, 1)
DAYS = 8
FLIGHTS_A_DAY = 60
FLIGHTS = DAYS * FLIGHTS_A_DAY
WEATHER = 3 * 24 * DAYS

AIRLINES = [("AA", "American Airlines Inc."), ("B6", "JetBlue Airways"), ("UA", "United Air Lines")]
AIRPORTS = ["EWR", "JFK", "LGA", "LAX", "ORD"]
PLANES = ["N14228", "N24211"]

DESTINATIONS = ["LAX", "ORD", "BQN"]
"""The last one is in no row of the airports: so for every third flight."""
TAIL_NUMBERS = ["N14228", "N24211", "N99999", "NA"]
"""The last two are in no row of the planes: so for every second flight."""
UNKNOWN_DESTINATIONS = FLIGHTS // 3
UNKNOWN_PLANES = FLIGHTS // 2


def write(directory: Path) -> Path:
    """Write the five files; returns the directory."""
    tables = {
        "airlines": ["carrier,name", *AIRLINES],
        "airports": ["faa,name,lat,lon,alt,tz,dst,tzone", *map(_airport, AIRPORTS)],
        "planes": [
            "tailnum,year,type,manufacturer,model,engines,seats,speed,engine",
            *map(_plane, PLANES),
        ],
        "weather": [
            "origin,year,month,day,hour,temp,dewp,humid,wind_dir,wind_speed,wind_gust,precip,"
            "pressure,visib,time_hour",
            *_weather(),
        ],
    }
    for name, (header, *rows) in tables.items():
        (directory / f"{name}.csv").write_text(_csv(str(header), rows), encoding="utf-8")
    flights = _csv(
        "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
        "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour",
        map(_flight, range(FLIGHTS)),
    )
    with zipfile.ZipFile(directory / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", flights)
    return directory


def _csv(header: str, rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return text.getvalue()


def _airport(code: str) -> Sequence[object]:
    return code, f"{code} Field", 40.7, -74.0, 18, -5, "A", "NA"


def _plane(tail_number: str) -> Sequence[object]:
    return tail_number, "NA", "Fixed wing", "AIRBUS", "A320", 2, 182, "NA", "Turbo-fan"


def _weather() -> Iterable[Sequence[object]]:
    """By airport and then by time, as in the real data."""
    for origin in AIRPORTS[:3]:
        for hours in range(24 * DAYS):
            local = datetime.combine(FIRST_DAY, time(), NEW_YORK) + timedelta(hours=hours)
            when = (local.year, local.month, local.day, local.hour)
            yield origin, *when, 70.5, 60, 50, "NA", 10.3, "NA", 0, 1012, 10, _utc(local)


def _flight(n: int) -> Sequence[object]:
    """Flight ``n`` of all: five in an hour of the clock, and the hours of a day not in order."""
    day = FIRST_DAY + timedelta(days=n // FLIGHTS_A_DAY)
    hour = 8 + n * 7 % 12
    departed = n % 10 > 0
    return (
        day.year,
        day.month,
        day.day,
        hour * 100 + 5 if departed else "NA",
        hour * 100,
        5 if departed else "NA",
        hour * 100 + 200 if departed else "NA",
        hour * 100 + 155,
        5 if departed else "NA",
        AIRLINES[n % 3][0],
        n + 1,
        TAIL_NUMBERS[n % 4],
        AIRPORTS[n % 3],
        DESTINATIONS[n % 3],
        110 if departed else "NA",
        700,
        hour,
        0,
        _utc(datetime.combine(day, time(hour), NEW_YORK)),
    )


def _utc(local: datetime) -> str:
    return f"{local.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
