"""Rows without a time and rows whose time the scheme can't hold: refused, left, or filled."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from django.core.management import CommandError
from django.db import OperationalError, connection, transaction

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.models import BackfillRun, WorkerLease
from tests.support import elsewhere, execute, on_statement
from tests.testapp.models import Order

from . import support
from .support import (
    SECOND,
    START,
    TIMED,
    ascends,
    each_kind,
    field_of,
    find,
    ids,
    insert_orders,
    label,
    rows,
)
from .test_outages import on_a_server

pytestmark = pytest.mark.django_db
OLD, NEW = datetime(2005, 1, 1, tzinfo=UTC), datetime(2150, 1, 1, tzinfo=UTC)
UNCOMPARED = "ids of rows without a time, or with one out of range: their times can't be compared"
command = partial(support.command, created_from="created_at")


def rank_of(name, value):
    scheme = field_of(name).scheme
    return (-1 if getattr(scheme, "descending", False) else 1) * scheme.to_int(value)


def by_key(name):
    """Ranks in the order of keys, None without an id."""
    values = rows(name).order_by("pk").values_list(field_of(name).name, flat=True)
    return [None if value is None else rank_of(name, value) for value in values]


@each_kind
def test_rows_without_a_time_are_left(name):
    insert_orders([START, None, START, None])
    assert "2 rows filled." in command(name, on_null="skip")
    assert [value is None for value in by_key(name)] == [False, True, False, True]
    assert command(name, on_null="skip", verify=True)[:2] == [
        "4 rows, 2 with an id",
        "2 rows skipped: without a time, or one out of range",
    ]
    assert "2 rows skipped: without a time, or one out of range" in command(name, verify=True)


@each_kind
def test_rows_without_a_time_get_ids_of_now(name):
    insert_orders([None, START, None, START, None])
    before = datetime.now(UTC)
    assert "5 rows filled." in command(name, on_null="now", batch_size=2)
    first, *others = (by_key(name)[i] for i in (1, 3, 0, 2, 4))
    assert ascends([first, *others])
    if name in TIMED:
        made = field_of(name).scheme.created_at(
            rows(name).get(pk=rows(name).order_by("pk")[4].pk).__dict__[name]
        )
        assert made >= before - 2 * SECOND
    command(name, verify=True)


def test_a_verification_tells_the_ids_of_now_from_edited_times():
    insert_orders([None, None, START, START + SECOND, START + 2 * SECOND])
    command("uuid7", on_null="now")
    edited = rows("uuid7").filter(created_at=START)
    edited.update(created_at=START - SECOND)
    lines = command("uuid7", verify=True, allow_edited_times=20.0)
    assert lines[1] == (f"2 {UNCOMPARED}")
    assert lines[2].startswith("1 id of another time than the row, ")
    assert lines[3] == "all different, the others strictly in order"


def test_skipped_rows_get_no_ids_of_another_source():
    insert_orders([START + n * SECOND if n % 5 else None for n in range(50)])
    command("uuid7", on_null="skip")
    period = {"created_from": "pk", "start": "2015-01-01", "end": "2024-05-17"}
    assert "to keep ids of both, delete the BackfillRun" in support.refusal("uuid7", **period)
    known = [row.pk for row in rows("uuid7").filter(created_at=None)[:4]]
    Order.objects.filter(pk__in=known).update(created_at=START)
    assert "4 rows filled." in command("uuid7", on_null="skip")
    assert "6 rows filled." in command("uuid7", on_null="now")
    assert command("uuid7", verify=True)[:2] == ["50 rows, 50 with an id", f"6 {UNCOMPARED}"]


def test_rows_of_another_source_are_refused_with_those_that_were_not_skipped():
    insert_orders([START, None])
    command("uuid7", on_null="skip")
    insert_orders([START])
    refused = support.refusal("uuid7", created_from="pk", start="2015-01-01", end="2015-02-01")
    assert "the rows would not sort together" in refused


def test_rows_out_of_range_are_left():
    insert_orders([OLD, START, NEW, START])
    assert command("snowflake", on_out_of_range="skip")[-3:-1] == [
        "2 rows filled.",
        "2 rows skipped: without a time, or one out of range",
    ]
    assert [value is None for value in by_key("snowflake")] == [True, False, True, False]
    lines = command("snowflake", on_null="now")
    assert lines[-3:-1] == [
        "0 rows filled.",
        "2 rows skipped: without a time, or one out of range",
    ]
    assert command("snowflake", on_out_of_range="skip", verify=True)[0] == "4 rows, 2 with an id"
    assert command("snowflake", verify=True)[-1] == (
        "No migration follows, because of 2 rows skipped, without an id: correct their times, or "
        "give them ids, for example by --on-null=now. Until then, snowflake may be unique=True "
        "with null=True."
    )
    assert command("snowflake", verify=True)[0] == "4 rows, 2 with an id"


def test_rows_out_of_range_that_have_an_id_are_nobodys_neighbours():
    """The user gave it to them, as the refusal says."""
    insert_orders([OLD, START, START + SECOND, START + 2 * SECOND, NEW])
    made = field_of("snowflake").scheme.generate_many(2, START)
    for at, given in zip((OLD, NEW), made, strict=True):
        rows("snowflake").filter(created_at=at).update(snowflake=given)
    assert "3 rows filled." in command("snowflake", batch_size=4)


@pytest.mark.parametrize("policy", ["on_null", "on_out_of_range"])
def test_each_policy_is_for_its_own_rows(policy):
    insert_orders([OLD, None, START])
    with pytest.raises(CommandError, match="too old" if policy == "on_null" else "no created_at"):
        command("snowflake", **{policy: "skip"})
    assert ids("snowflake") == [None] * 3


# They are a part of the run: its rules hold


def planned(name, batch_size=2):
    return plan.build(replace(find(name), on_null="now"), batch_size)


LOCK_TIMEOUT = {
    "postgresql": "SET lock_timeout = '100ms'",
    "mysql": "SET SESSION innodb_lock_wait_timeout = 1",
}


@pytest.mark.usefixtures("transactional_db")
@on_a_server
def test_a_row_that_gets_its_own_time_concurrently_gets_no_id_of_now():
    """Between the two statements of a batch, which reads its rows and writes their ids."""
    insert_orders([None] * 4)
    last = Order.objects.order_by("-pk")[0].pk
    made = planned("uuid7", 4)

    def give_time():
        execute(LOCK_TIMEOUT[connection.vendor])
        with suppress(OperationalError):
            Order.objects.filter(pk=last).update(created_at=START)

    with on_statement("^UPDATE .*(JOIN| AS t SET )", lambda: elsewhere(give_time)):
        run.execute(made)
    found = Order.objects.get(pk=last)
    assert (found.created_at is None) is (found.uuid7 is not None)
    assert Order.objects.exclude(uuid7=None).count() >= 3


@pytest.mark.usefixtures("transactional_db")
def test_rows_that_are_deleted_concurrently():
    """The last one of a batch, and one that has no id yet."""
    insert_orders([None] * 10)
    keys = list(Order.objects.order_by("pk").values_list("pk", flat=True))
    calls = []

    def delete(count):
        calls.append(count)
        if len(calls) == 2:
            elsewhere(Order.objects.filter(pk__in=[keys[3], keys[7]]).delete)

    result = run.execute(planned("snowflake", 2), delete)
    assert (result.filled, result.remaining) == (9, 0)
    assert ascends(by_key("snowflake"))


@pytest.mark.usefixtures("transactional_db")
def test_the_lease_of_a_worker_number_is_taken_outside_of_the_transaction(request):
    """Which on SQLite would have to wait for itself."""
    insert_orders([None] * 20)
    leasing = request.getfixturevalue("command")(
        label("snowflake"),
        "--created-from=created_at",
        "--on-null=now",
        settings={"SORTABLE_IDS": {"WORKER": "lease"}},
    )
    output = leasing.output()
    assert leasing.code == 0, output
    assert "20 rows filled." in output
    assert WorkerLease.objects.count() == 1


@pytest.mark.usefixtures("transactional_db")
def test_inside_of_a_transaction_of_the_caller_nothing_is_committed():
    insert_orders([None] * 5)
    with transaction.atomic():
        run.execute(planned("uuid7"))
        transaction.set_rollback(True)
    assert ids("uuid7") == [None] * 5
    assert not BackfillRun.objects.exists()


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("at", [OLD, NEW, None])
@pytest.mark.parametrize("size", [1, 100])
def test_a_row_that_appears_during_the_run_without_a_usable_time_is_named(at, size):
    insert_orders([START + n * SECOND for n in range(4)])
    made = plan.build(find("snowflake"), size)
    insert_orders([at])
    pk = Order.objects.latest("pk").pk
    if at is None and size == 1 and connection.vendor == "postgresql":  # It sorts last.
        assert run.execute(made).remaining == 1
        return
    with pytest.raises(BackfillError, match=f"stopped at testapp.Order {pk}.*: .*"):
        run.execute(made)
