"""``--on-null=now`` and ``--on-out-of-range=clamp`` are a part of the run: its rules hold."""

from contextlib import suppress
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.base import Given
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.models import BackfillRun, WorkerLease
from tests.support import elsewhere, on_statement
from tests.testapp.models import Order

from .shop.models import Old, Tight
from .support import (
    SECOND,
    START,
    field_of,
    ids,
    insert,
    insert_orders,
    is_strict,
    label,
    saved_run,
)
from .test_outages import on_a_server

pytestmark = pytest.mark.usefixtures("transactional_db")

ROWS = 120
OLD = datetime(2005, 1, 1, tzinfo=UTC)
POLICIES = {
    "uuid7": ("on_null", "now", [None] * ROWS),
    "number": ("on_null", "now", [None] * ROWS),
    "snowflake": ("on_out_of_range", "clamp", [OLD + i // 3 * SECOND for i in range(ROWS)]),
}


def planned(name, batch_size=2):
    option, value, _ = POLICIES[name]
    target = find_target(label(name), Given("created_at"), "default")
    return plan.build(replaced(target, option, value), batch_size)


def replaced(target, option, value):
    return type(target)(**{**fields_of(target), option: value})


def fields_of(target):
    return {name: getattr(target, name) for name in target.__dataclass_fields__}


def test_the_plan_names_them():
    insert_orders([None, START, OLD, OLD])
    out = StringIO()
    policies = {"on_null": "now", "on_out_of_range": "clamp"}
    call_command(
        "backfill_ids",
        label("snowflake"),
        dry_run=True,
        verbosity=2,
        stdout=out,
        **policies,
        created_from="created_at",
    )
    lines = out.getvalue().splitlines()
    assert "  at the end, 1 rows without created_at get ids of now:" in lines
    assert "  at the end, 2 rows too old for snowflake get ids of 2010-11-04 01:42:54 UTC:" in lines
    assert not any("too new" in line for line in lines)
    assert ids("snowflake") == [None] * 4


def test_rows_that_have_a_place_of_their_own_come_first():
    insert_orders([None, START, None, START])
    target = find_target(label("uuid7"), Given("created_at"), "default")
    seen = []

    def look(count):
        seen.append(Order.objects.filter(created_at=None).exclude(uuid7=None).count())

    run.execute(plan.build(replaced(target, "on_null", "now"), 1), look)
    assert seen == [0, 0, 1, 2]
    assert saved_run("uuid7").cursor["created"].startswith("2024-05-17")


def test_more_than_the_tick_has_room_for_is_refused_before_anything_is_written():
    insert(Tight, [{"created_at": OLD}] * 9 + [{"created_at": START}])
    target = find_target("shop.Tight.eighth", Given("created_at"), "default")
    with pytest.raises(BackfillError, match=r"9 rows too old .* has 8 ids of that time"):
        plan.build(replaced(target, "on_out_of_range", "clamp"), 5)
    assert not BackfillRun.objects.exists()


def test_old_ids_that_are_missing_are_filled_by_the_run():
    old = field_of("shop.Old.old_ulid").scheme
    values = (None, old.generate(START), None)
    insert(Old, [{"name": "", "text": "", "old_ulid": value} for value in values])
    target = find_target("shop.Old.snowflake", Given(None, "old_ulid"), "default")
    result = run.execute(plan.build(replaced(target, "on_null", "now"), 1))
    assert (result.filled, result.remaining) == (3, 0)
    given = list(Old.objects.order_by("pk").values_list("snowflake", flat=True))
    assert given[1] < given[0] < given[2]
    assert BackfillRun.objects.get().rows_filled == 3


LOCK_TIMEOUT = {
    "postgresql": "SET lock_timeout = '100ms'",
    "mysql": "SET SESSION innodb_lock_wait_timeout = 1",
}


@on_a_server
def test_a_row_that_gets_its_own_time_concurrently_gets_no_id_of_now():
    """Between the two statements of a batch, which reads its rows and writes their ids."""
    insert_orders([None] * 4)
    last = Order.objects.order_by("-pk")[0].pk
    made = planned("uuid7", 4)

    def give_time():
        with connection.cursor() as cursor:
            cursor.execute(LOCK_TIMEOUT[connection.vendor])
        with suppress(OperationalError):
            Order.objects.filter(pk=last).update(created_at=START)

    with on_statement("^UPDATE .*(JOIN| AS t SET )", lambda: elsewhere(give_time)):
        run.execute(made)
    found = Order.objects.get(pk=last)
    assert (found.created_at is None) is (found.uuid7 is not None)
    assert Order.objects.exclude(uuid7=None).count() >= 3


def test_a_row_whose_place_is_deleted_concurrently():
    insert_orders([OLD + i * SECOND for i in range(10)])
    keys = list(Order.objects.order_by("created_at").values_list("pk", flat=True))
    calls = []

    def delete(count):
        calls.append(count)
        if len(calls) == 2:
            elsewhere(Order.objects.filter(pk=keys[3]).delete)

    result = run.execute(planned("snowflake", 2), delete)
    assert (result.filled, result.remaining) == (10, 0)
    assert is_strict("snowflake")


def test_the_lease_of_a_worker_number_is_taken_outside_of_the_transaction(command):
    """Which on SQLite would have to wait for itself."""
    insert_orders([None] * 20)
    leasing = command(
        label("snowflake"),
        "--created-from=created_at",
        "--on-null=now",
        settings={"SORTABLE_IDS": {"WORKER": "lease"}},
    )
    output = leasing.output()
    assert leasing.code == 0, output
    assert "20 rows filled." in output
    assert WorkerLease.objects.count() == 1


def test_inside_of_a_transaction_of_the_caller_nothing_is_committed():
    insert_orders([None] * 5)
    with transaction.atomic():
        run.execute(planned("uuid7"))
        transaction.set_rollback(True)
    assert ids("uuid7") == [None] * 5
    assert not BackfillRun.objects.exists()
