"""``ON UPDATE CURRENT_TIMESTAMP``: columns of MariaDB and MySQL that other UPDATEs overwrite."""

from contextlib import contextmanager

import pytest
from django.db import connection

from django_sortable_ids.errors import BackfillError
from tests.support import execute
from tests.testapp.models import Order

from .support import (
    SECOND,
    START,
    build,
    command,
    concurrently,
    fill,
    ids,
    in_python,
    insert_orders,
    is_strict,
    times_are_right,
)

pytestmark = [
    pytest.mark.skipif("connection.vendor != 'mysql'", reason="others have no such column"),
    pytest.mark.usefixtures("transactional_db"),
]

NAMES = ["uuid7", "snowflake", "number"]
ZONES = ["+00:00", "Europe/Berlin", "America/New_York"]
TIMESTAMPS = [
    "'2020-01-02 03:04:05.678901'",
    # 02:30 in Berlin, twice; 01:30 in New York, twice.
    "'2024-10-27 00:30:00.123456'",
    "'2024-10-27 01:30:00.123456'",
    "'2024-11-03 05:30:00.123456'",
    "'2024-11-03 06:30:00.123456'",
    "'2024-03-31 01:00:00.000001'",
    "'0000-00-00 00:00:00'",
    "NULL",
]
TWICE = TIMESTAMPS[1:5]
DATETIMES = [*TIMESTAMPS, "'2024-03-31 02:30:00'", "'2024-02-31 00:00:00'"]
COLUMNS = {
    "changed": ("TIMESTAMP(6) NULL ON UPDATE CURRENT_TIMESTAMP(6)", TIMESTAMPS),
    "last`100%s`": ("TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP", TIMESTAMPS),
    "edited": ("DATETIME(6) NULL ON UPDATE CURRENT_TIMESTAMP(6)", DATETIMES),
}
"""As the model doesn't know them, and what they hold."""
MODE = "sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES'"


def quote(name):
    return f"`{name.replace('`', '``')}`"


@contextmanager
def columns_of(model):
    alter = f"ALTER TABLE {model._meta.db_table}"
    execute(*(f"{alter} ADD COLUMN {quote(name)} {kind}" for name, (kind, _) in COLUMNS.items()))
    try:
        yield
    finally:
        execute(*(f"{alter} DROP COLUMN {quote(name)}" for name in COLUMNS))


@pytest.fixture
def session(monkeypatch):
    """Gives every connection that time zone, as projects do, and a mode."""

    def use(zone, mode=MODE):
        options = connection.settings_dict["OPTIONS"]
        monkeypatch.setitem(options, "init_command", f"SET time_zone = '{zone}', {mode}")
        connection.close()

    yield use
    monkeypatch.undo()
    connection.close()


def give_values(model, zone="+00:00"):
    """Each value to some rows. MySQL refuses a TIMESTAMP in an hour that the zone has twice."""
    table = model._meta.db_table
    is_refused = zone != "+00:00" and not connection.mysql_is_mariadb
    execute("SET @mode = @@sql_mode, sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
    sets = []
    for name, (kind, values) in COLUMNS.items():
        if is_refused and kind.startswith("TIMESTAMP"):
            values = [value for value in values if value not in TWICE]
        cases = " ".join(f"WHEN {number} THEN {value}" for number, value in enumerate(values))
        sets.append(f"{quote(name)} = CASE id MOD {len(values)} {cases} END")
    execute(f"UPDATE {table} SET {', '.join(sets)}")
    execute("SET sql_mode = @mode, time_zone = DEFAULT")


def kept(model, columns=COLUMNS):
    """What is stored: moments of a TIMESTAMP, digits of a DATETIME."""
    shown = [
        f"UNIX_TIMESTAMP({quote(name)})" if kind.startswith("TIMESTAMP") else f"{quote(name)} + 0"
        for name, (kind, _) in columns.items()
    ]
    rows = execute(f"SELECT id, {', '.join(shown)} FROM {model._meta.db_table}")
    return {row[0]: row[1:] for row in rows}


def fill_with_late_rows(name):
    """With rows that come late; all of them get ids, in order."""
    late = [START - SECOND, START, START + 3 * SECOND]
    assert fill(name, 10, concurrently(2, lambda: insert_orders(late))).filled == 43
    assert None not in ids(name)
    assert name == "number" or (is_strict(name) and times_are_right(name))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("way", ["database", "Python"])
@pytest.mark.parametrize("name", NAMES)
def test_a_run_keeps_them(name, way, zone, session, monkeypatch):
    if way == "Python":
        in_python(monkeypatch)
    with columns_of(Order):
        insert_orders([START + n // 5 * SECOND for n in range(40)])
        give_values(Order, zone)
        before = kept(Order)
        session(zone)
        fill_with_late_rows(name)
        after = kept(Order)
    assert {key: after[key] for key in before} == before
    assert len(after) == 43
    assert all(set(after[key]) == {None} for key in after.keys() - before.keys())


def test_an_hour_that_the_session_has_twice_is_refused(session):
    if connection.mysql_is_mariadb:
        pytest.skip("it copies both hours")
    with columns_of(Order):
        insert_orders([START + n * SECOND for n in range(8)])
        give_values(Order)
        session("Europe/Berlin")
        with pytest.raises(
            BackfillError, match=r"Europe/Berlin, has twice.* Set the session to UTC"
        ):
            build("uuid7")
        session("+00:00")
        fill("uuid7")


@pytest.mark.parametrize("name", ["uuid7", "number"])
def test_the_plan_says_so(name):
    with columns_of(Order):
        insert_orders([START + n * SECOND for n in range(5)])
        lines = command(name, created_from="created_at", dry_run=True)
    assert (
        "  keeps changed, last`100%s`, edited, which an UPDATE would set to the current time"
        in lines
    )
