"""A database that can't be reached, or written, while ids are made."""

import sqlite3
import time
from contextlib import contextmanager

from django.db import connection

from django_sortable_ids.models import WorkerLease
from tests.marks import own_tables
from tests.patience import PATIENCE, wait_until
from tests.schemes.generators import increases

from .proxy import proxy
from .support import SKEW, TERM, row

pytestmark = own_tables


@contextmanager
def reach():
    """What a process has to know of the database, and how to cut it off, and to undo that."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        writer = sqlite3.connect(settings["NAME"], timeout=PATIENCE, isolation_level=None)
        try:
            yield (
                {"OPTIONS": {"timeout": 0.1}},
                lambda: writer.execute("BEGIN IMMEDIATE"),
                lambda: writer.execute("ROLLBACK"),
            )
        finally:
            writer.close()
        return
    with proxy(settings["HOST"], int(settings["PORT"])) as passing:
        yield {"HOST": "127.0.0.1", "PORT": str(passing.port)}, passing.cut, passing.restore


def made_until_it_fails(process):
    """The ids, and the error."""
    made, give_up = [], time.monotonic() + PATIENCE
    while isinstance(answer := process.ids(), list):
        assert time.monotonic() < give_up
        made += answer
        time.sleep(0.02)
    return made, answer


def test_a_short_outage_is_not_noticed(maker, tmp_path):
    """Shorter than the rest of the lease, though renewals fail."""
    file = tmp_path / "said"
    with reach() as (database, cut, restore), file.open("w") as said:
        process = maker(database=database, stderr=said)
        made = process.ids()
        process.ask("extend", 3600)
        before = row().expires
        cut()
        made += process.ids()
        wait_until(lambda: "was not renewed" in file.read_text(), "a renewal that fails")
        made += process.ids()
        restore()
        WorkerLease.objects.update(expires=0)
        wait_until(lambda: row().expires == before, "a renewal that does not")
        assert increases(made + process.ids())


def test_an_outage_beyond_the_end_of_the_lease(maker):
    """Ids until then, errors of the database from then on, and ids again behind it."""
    with reach() as (database, cut, restore):
        process = maker(database=database)
        made = process.ids()
        cut()
        more, error = made_until_it_fails(process)
        assert error["error"] == "OperationalError", error
        made += more
        expires = row().expires
        assert process.time_ms(made[-1]) < expires
        while time.time_ns() // 10**6 < expires + 1000 * (SKEW + TERM):
            assert process.ids()["error"] == "OperationalError"
        assert row().expires == expires
        restore()
        made += process.ids_at_last()
        assert increases(made)
        assert {process.number(value) for value in made} == {0}
        assert row().expires > expires


def test_an_end_without_a_database(maker, tmp_path):
    """The process ends, and says what it could not do."""
    with reach() as (database, cut, restore), (tmp_path / "said").open("w") as said:
        process = maker(database=database, term=3600, stderr=said)
        process.ids()
        cut()
        process.end()
        restore()
    assert row().token
    lines = (tmp_path / "said").read_text()
    assert lines.startswith("worker number 0 was not given back: ")
    assert "Traceback" not in lines
