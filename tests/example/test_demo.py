import re
from pathlib import Path

import pytest

from . import data
from .support import PUBLIC_ID, SECONDS, Demo, assert_finished, ended


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


def test_keeps_the_integer_keys_and_the_order_of_the_file(finished: tuple[Demo, str]) -> None:
    demo, _ = finished
    keys = demo.query("SELECT id, number FROM flights_flight ORDER BY id")
    assert keys == [(n, n) for n in range(1, data.FLIGHTS + 1)]


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


def test_begins_with_the_legacy_tables_after_a_plain_migrate(demo: Demo) -> None:
    """As when somebody follows their habits before they read on."""
    demo.manage("migrate")
    demo.run()
    assert_finished(demo, data.FLIGHTS, data.WEATHER)


LIMITS = """
from django.core.management import CommandError, call_command

for limit in ("0", "-1"):
    try:
        call_command("demo", "--limit", limit)
    except CommandError as error:
        print(error)
"""


def test_refuses_a_limit_without_rows(demo: Demo) -> None:
    assert demo.manage("shell", "-v0", "-c", LIMITS).splitlines() == [
        f"--limit {limit}: expected a whole number of rows from 1" for limit in ("0", "-1")
    ]


def test_says_which_file_is_missing_and_loads_the_first_flights_once_it_is_there(
    demo: Demo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = tmp_path_factory.mktemp("empty")
    with ended(Demo(demo.database, empty).start()) as process:
        output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert output.endswith(
        f"CommandError: [Errno 2] No such file or directory: '{empty}/airlines.csv.zip'\n"
    )
    demo.run("--limit", "20")
    assert_finished(demo, 20, data.WEATHER)
    assert demo.query("SELECT MAX(number) FROM flights_flight") == [(20,)]
