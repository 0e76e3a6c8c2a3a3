"""``--verify``, stopped at any moment, goes on behind the last page that it has looked at."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import Error, OperationalError, connection
from django.utils import timezone

from django_sortable_ids.backfill.planning import plan
from django_sortable_ids.backfill.sources.find import Given
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.backfill.supervising.run import execute
from django_sortable_ids.backfill.verifying import checkpoints, verify
from django_sortable_ids.backfill.verifying.verify import Verifier
from django_sortable_ids.models import VerificationRun
from tests.combinations import each_with

from .shop.models import Growing, Old, PairKey
from .support import (
    FIELDS,
    SECOND,
    START,
    disorder_of_ties,
    fill,
    find,
    insert,
    insert_orders,
    label,
    rows,
)
from .test_convert_from import insert_old, old_values
from .test_verify import swap

pytestmark = pytest.mark.django_db

COUNT, PAGE = 20, 3


class Stop(Exception):
    pass


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(verify, "PAGE", PAGE)


def orders(name):
    insert_orders([START + i // 7 * SECOND for i in range(COUNT)])
    fill(name, 5)


def stop_behind(target, pages):
    """Verify so many pages."""
    looked_at = []

    def progress(count):
        looked_at.append(count)
        if len(looked_at) == pages:
            raise Stop

    with pytest.raises(Stop):
        Verifier(target).verify(progress)


def verified(target):
    """How many rows were looked at, and what was found in all of them."""
    looked_at = []
    found = Verifier(target).verify(looked_at.append)
    return sum(looked_at), found


@pytest.mark.parametrize(
    ("name", "pages", "read_by"),
    each_with(FIELDS, [1, 2, 4, 6], ["the database, if it can", "Python"]),
    indirect=["read_by"],
)
def test_stopped_behind_any_page(name, pages, read_by, monkeypatch):
    orders(name)
    keys = list(rows(name).values_list("pk", flat=True))
    for place in (2, 6, 13):  # two of them the last ones of a page
        swap(name, keys[place - 1], keys[place])
    rows(name).filter(pk=keys[16]).update(created_at=START + 500 * SECOND)
    whole = verify.verify(find(name))
    kind = disorder_of_ties(name)
    assert (getattr(whole, kind), len(whole.examples_of[kind])) == (3, 3)
    stop_behind(find(name), pages)
    assert verified(find(name)) == (COUNT - pages * PAGE, whole)
    assert not VerificationRun.objects.exists()


@pytest.mark.parametrize(
    ("source", "name"),
    [("plain", "uuid6"), *((old, "ulid") for old in ("plain", "old_snowflake", "old_reversed"))],
)
def test_of_a_conversion(source, name):
    insert_old(source, old_values(source, COUNT))
    target = find_target(f"shop.Old.{name}", Given(None, source), "default")
    execute(plan.build(target, 5))
    Old.objects.filter(pk=Old.objects.order_by(source)[7].pk).update(**{name: None})
    whole = verify.verify(target)
    assert whole.missing == 1
    stop_behind(target, 3)
    assert verified(target) == (COUNT - 3 * PAGE, whole)


def test_of_a_key_of_two_columns():
    insert(PairKey, [{"shop": i % 3, "number": i, "created_at": START} for i in range(COUNT)])
    fill("shop.PairKey.public_id")
    stop_behind(find("shop.PairKey.public_id"), 2)
    looked_at, found = verified(find("shop.PairKey.public_id"))
    assert (looked_at, found.rows, found.failures) == (COUNT - 2 * PAGE, COUNT, [])


def test_an_id_that_comes_twice_is_found_however_far_apart():
    name = "shop.Growing.public_id"
    insert(Growing, [{"created_at": START + i * SECOND} for i in range(COUNT)])
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    twice = rows(name).get(pk=keys[1]).public_id
    rows(name).filter(pk=keys[18]).update(public_id=twice)
    stop_behind(find(name), 3)
    found = verified(find(name))[1]
    assert (found.duplicates, found.other_time) == (1, 1)


def begins_anew(name="uuid7"):
    return verified(find(name))[0] == COUNT


def test_what_was_filled_since_is_looked_at():
    orders("uuid7")
    stop_behind(find("uuid7"), 2)
    rows("uuid7").filter(pk=rows("uuid7")[1].pk).update(uuid7=None)
    fill("uuid7")
    assert begins_anew()


def test_a_run_that_went_on_since_is_looked_at():
    insert_orders([START] * COUNT)
    batches = []

    def stop(count):
        batches.append(count)
        if len(batches) == 2:
            raise Stop

    with pytest.raises(Stop):
        fill("uuid7", 5, stop)
    stop_behind(find("uuid7"), 2)
    fill("uuid7", 5)
    looked_at, found = verified(find("uuid7"))
    assert (looked_at, found.missing) == (COUNT, 0)


def test_after_a_day_it_begins_anew(monkeypatch):
    orders("uuid7")
    stop_behind(find("uuid7"), 2)
    VerificationRun.objects.update(updated_at=timezone.now() - timedelta(hours=23))
    stop_behind(find("uuid7"), 1)
    assert VerificationRun.objects.get().state["found"]["rows"] == 3 * PAGE
    VerificationRun.objects.update(updated_at=timezone.now() - checkpoints.LASTS)
    assert begins_anew()


def test_with_other_options_it_begins_anew():
    orders("uuid7")
    stop_behind(find("uuid7"), 2)
    out = StringIO()
    call_command("backfill_ids", label("uuid7"), verify=True, on_null="skip", stdout=out)
    assert out.getvalue().splitlines()[0] == "20 rows, 20 with an id"


def test_each_target_for_itself():
    orders("uuid7")
    fill("ulid")
    stop_behind(find("uuid7"), 2)
    assert begins_anew("ulid")
    assert verified(find("uuid7"))[0] == COUNT - 2 * PAGE


def test_the_command_says_so():
    orders("uuid7")
    stop_behind(find("uuid7"), 4)
    out = StringIO()
    call_command("backfill_ids", label("uuid7"), verify=True, stdout=out)
    kept_at, *rest = out.getvalue().splitlines()
    assert kept_at.startswith("Continues after the 12 rows that were checked before 20")
    assert rest == [
        "20 rows, 20 with an id",
        "all different, strictly in order, and of their rows' times",
    ]


AGAIN = (
    "Continue with: manage.py backfill_ids testapp.Order.uuid7 --created-from created_at --verify"
)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), f"Stopped; the check is not finished. {AGAIN}"),
        (
            OperationalError("server closed the connection"),
            "the database interrupted the command: server closed the connection. What was "
            f"committed before is kept. Check that it can be reached. {AGAIN}",
        ),
    ],
    ids=["Ctrl-C", "a lost connection"],
)
def test_whatever_stops_the_command_it_says_how_to_go_on(error, said):
    orders("uuid7")
    pages = 0

    def lose(execute, sql, params, many, context):
        nonlocal pages
        is_page = "verify_judged" in sql
        pages += is_page
        if is_page and pages == 5:
            raise error
        return execute(sql, params, many, context)

    with connection.execute_wrapper(lose), pytest.raises(CommandError) as raised:
        call_command("backfill_ids", label("uuid7"), verify=True, stdout=StringIO())
    assert str(raised.value) == said
    assert verified(find("uuid7"))[0] < COUNT


READ_ONLY = {
    "sqlite": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
    "postgresql": ("SET default_transaction_read_only = on", "RESET default_transaction_read_only"),
    "mysql": ("SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"),
}


def test_where_nothing_can_be_written_as_on_a_replica(transactional_db):
    orders("uuid7")
    begin, end = READ_ONLY[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            with pytest.raises(Error):
                VerificationRun.objects.create(target="", judged_by={}, state={})
            assert verified(find("uuid7"))[0] == COUNT
        finally:
            cursor.execute(end)
