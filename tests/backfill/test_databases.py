"""``--database``: ids and runs of a second database, with SQLite's usual transactions."""

from concurrent.futures import ThreadPoolExecutor
from io import StringIO

from django.core.management import call_command
from django.db import connections

from tests.patience import PATIENCE
from tests.support import elsewhere
from tests.testapp.models import Order

from .support import START, fill, insert_orders, is_strict


def test_the_command_names_the_database(other):
    insert_orders([START] * 3, other)
    out = StringIO()
    call_command(
        "backfill_ids",
        "testapp.Order.ulid",
        "--created-from=created_at",
        "--database=other",
        stdout=out,
    )
    assert out.getvalue().splitlines()[-1] == (
        "Next: manage.py backfill_ids testapp.Order.ulid --created-from created_at "
        "--database=other --verify"
    )
    assert is_strict("ulid", other)


def test_writers_of_the_same_file_do_not_stop_the_run(other):
    """A reading transaction that wants to write is refused at once; the run begins by writing."""
    insert_orders([START] * 60, other)
    stop = []

    def write():
        with connections[other].cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE}")
        while not stop:
            Order.objects.using(other).filter(name="x").update(name="y")

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(elsewhere, write)
        try:
            assert fill("uuid7", 2, using=other).filled == 60
        finally:
            stop.append(True)
        writer.result()
    assert is_strict("uuid7", other)
