"""Which column of the data goes where."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reference:
    """A foreign key: to the row whose ``key`` is the text in ``column``, or to none."""

    key: str
    column: str


@dataclass(frozen=True)
class Table:
    model: str
    name: str
    """The CSV file's, without its suffix."""
    columns: Mapping[str, str]
    """Field of the model: column of the file."""
    references: Mapping[str, Reference] = field(default_factory=dict)


TABLES = [
    Table("Airline", "airlines", {"code": "carrier", "name": "name"}),
    Table(
        "Airport",
        "airports",
        {
            "code": "faa",
            "name": "name",
            "latitude": "lat",
            "longitude": "lon",
            "altitude": "alt",
            "utc_offset": "tz",
            "dst": "dst",
            "time_zone": "tzone",
        },
    ),
    Table(
        "Plane",
        "planes",
        {
            "tail_number": "tailnum",
            "year": "year",
            "type": "type",
            "manufacturer": "manufacturer",
            "model": "model",
            "engines": "engines",
            "seats": "seats",
            "speed": "speed",
            "engine": "engine",
        },
    ),
    # Without year, month, day and hour: time_hour says the same.
    Table(
        "Weather",
        "weather",
        {
            "time_hour": "time_hour",
            "temperature": "temp",
            "dew_point": "dewp",
            "humidity": "humid",
            "wind_direction": "wind_dir",
            "wind_speed": "wind_speed",
            "wind_gust": "wind_gust",
            "precipitation": "precip",
            "pressure": "pressure",
            "visibility": "visib",
        },
        {"origin": Reference("code", "origin")},
    ),
    # Without year, month, day, hour and minute: time_hour and sched_dep_time say the same.
    Table(
        "Flight",
        "flights",
        {
            "number": "flight",
            "destination_code": "dest",
            "tail_number": "tailnum",
            "time_hour": "time_hour",
            "scheduled_departure": "sched_dep_time",
            "departure": "dep_time",
            "departure_delay": "dep_delay",
            "scheduled_arrival": "sched_arr_time",
            "arrival": "arr_time",
            "arrival_delay": "arr_delay",
            "air_time": "air_time",
            "distance": "distance",
        },
        {
            "airline": Reference("code", "carrier"),
            "origin": Reference("code", "origin"),
            "destination": Reference("code", "dest"),
            "plane": Reference("tail_number", "tailnum"),
        },
    ),
]
"""In an order in which every reference is there before it is used."""
