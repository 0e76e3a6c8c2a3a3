"""``--on-null=now`` and ``--on-out-of-range=clamp`` are a part of the run: its rules hold."""

import signal
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.pace import Control, Limits
from django_sortable_ids.backfill.sources.find import Given
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.models import BackfillRun, WorkerLease
from tests.testapp.models import Order

from .command import called, printed
from .shop.models import Old, Tight
from .support import (
    SECOND,
    START,
    ascends,
    elsewhere,
    field_of,
    ids,
    insert,
    insert_orders,
    is_strict,
    label,
    rows,
    saved_run,
)
from .test_outages import a_row_held, on_a_server

pytestmark = pytest.mark.usefixtures("transactional_db")

ROWS = 120
OLD = datetime(2005, 1, 1, tzinfo=UTC)
POLICIES = {
    "uuid7": ("on_null", "now", [None] * ROWS),
    "number": ("on_null", "now", [None] * ROWS),
    "snowflake": ("on_out_of_range", "clamp", [OLD + i // 3 * SECOND for i in range(ROWS)]),
}
each_policy = pytest.mark.parametrize("name", POLICIES)


def arguments(name, *more):
    option, value, _ = POLICIES[name]
    return (
        label(name),
        "--created-from=created_at",
        f"--{option.replace('_', '-')}={value}",
        "--batch-size=2",
        *more,
    )


def planned(name, batch_size=2):
    option, value, _ = POLICIES[name]
    target = find_target(label(name), Given("created_at"), "default")
    return plan.build(replaced(target, option, value), batch_size)


def replaced(target, option, value):
    return type(target)(**{**fields_of(target), option: value})


def fields_of(target):
    return {name: getattr(target, name) for name in target.__dataclass_fields__}


def filled(name, count):
    return rows(name).exclude(**{name: None}).count() >= count


def ranks_by_place(name):
    """Of rows without a time by their key, of others by time and key."""
    scheme = field_of(name).scheme
    found = Order.objects.order_by("created_at", "pk").values_list(name, flat=True)
    return [scheme.to_int(value) for value in found]


@pytest.mark.parametrize("name", ["uuid7", "snowflake"])
def test_killed_in_the_middle_it_continues(name, command):
    insert_orders(POLICIES[name][2])
    killed = command(*arguments(name), stops_in=[11])
    killed.send_while_stopped(signal.SIGKILL)
    assert killed.code == -signal.SIGKILL
    done = rows(name).exclude(**{name: None}).count()
    assert 0 < saved_run(name).rows_filled == done < ROWS
    assert saved_run(name).rows_planned == ROWS
    given = set(rows(name).exclude(**{name: None}).values_list("pk", name))
    output = printed(*arguments(name))
    assert f"continues after the {done:,} rows that were filled before" in output
    assert f"{ROWS - done:,} rows filled." in output
    assert given < set(rows(name).values_list("pk", name))
    assert ascends(ranks_by_place(name))
    assert saved_run(name).rows_filled == saved_run(name).rows_planned == ROWS
    assert saved_run(name).finished_at is not None


@pytest.mark.parametrize("name", ["number"])
def test_a_second_process_is_refused_and_the_status_shows_the_first(name, command, tmp_path):
    insert_orders(POLICIES[name][2])
    pause = tmp_path / "pause"
    first = command(*arguments(name, f"--pause-file={pause}"), stops_in=[6])
    first.wait_until_stopped()
    pause.touch()
    first.send_while_stopped()
    first.wait_for(f"paused: {pause} exists")
    _, error = called(*arguments(name))
    assert error.returncode == 1
    assert f"{label(name)} is being filled by " in str(error)
    out = StringIO()
    call_command("backfill_ids", label(name), status=True, stdout=out)
    assert f"{label(name)}: running, " in out.getvalue()
    assert "/120 rows  " in out.getvalue()
    assert not filled(name, ROWS)
    pause.unlink()
    output = first.output()
    assert first.code == 0, output
    assert f"paused: {pause} exists" in output
    assert "100 %  120/120 rows" in output
    assert "120 rows filled." in output


@pytest.mark.parametrize("name", ["uuid7"])
def test_sigterm_ends_it_after_its_batch(name, command):
    insert_orders(POLICIES[name][2])
    stopped = command(*arguments(name), stops_in=[2])
    stopped.send_while_stopped(signal.SIGTERM)
    assert "Stopped; committed batches are kept" in stopped.output()
    assert stopped.code == 128 + signal.SIGTERM
    found = rows(name).exclude(**{name: None}).count()
    assert 0 < found == saved_run(name).rows_filled < ROWS


class Noting(Control):
    """Doesn't wait, and remembers for how long it was to."""

    def __init__(self):
        super().__init__()
        self.pauses = []

    def pause(self, seconds):
        self.pauses.append(seconds)


@each_policy
def test_it_keeps_to_the_pace(name):
    insert_orders(POLICIES[name][2])
    control = Noting()
    batches = []
    result = run.execute(planned(name, 20), batches.append, Limits(sleep=7), control)
    assert (result.filled, result.remaining) == (ROWS, 0)
    assert batches == [20] * 6
    assert control.pauses.count(7) >= 5


@each_policy
def test_the_rows_come_with_one_statement_for_each_batch(name):
    """And in the transaction that counts them."""
    insert_orders(POLICIES[name][2])
    made = planned(name, 40)
    updates = []

    def note(execute, sql, params, many, context):
        if sql.startswith("UPDATE") and "testapp_order" in sql:
            updates.append(sql)
            assert connection.in_atomic_block
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        run.execute(made)
    (first,) = set(updates)
    assert len(updates) == 3
    assert f"    {first}" in list(made.lines(with_sql=True))
    assert saved_run(name).batches >= 3


def test_the_plan_names_them():
    insert_orders([None, START, OLD, OLD])
    out = StringIO()
    policies = {"on_null": "now", "on_out_of_range": "clamp"}
    call_command(
        "backfill_ids",
        label("snowflake"),
        dry_run=True,
        stdout=out,
        **policies,
        created_from="created_at",
    )
    lines = out.getvalue().splitlines()
    assert "  at the end, 1 rows without created_at get ids of now" in lines
    assert "  at the end, 2 rows too old for snowflake get ids of 2010-11-04 01:42:54 UTC" in lines
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


def test_a_sequence_that_ends_counts_them(monkeypatch):
    insert_orders([None] * 3)
    monkeypatch.setattr("django_sortable_ids.schemes.LexicalSequence.nth", too_far)
    with pytest.raises(BackfillError, match="3 rows have no id, but"):
        planned("number")


def too_far(self, n):
    from django_sortable_ids.schemes import SequenceExhausted

    if n > 1:
        raise SequenceExhausted("the width has no more")
    return "0" * 10


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

    def come_between(execute, sql, params, many, context):
        if sql.startswith("UPDATE") and ("JOIN" in sql or " AS t SET " in sql):
            elsewhere(give_time)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(come_between):
        run.execute(made)
    found = Order.objects.get(pk=last)
    assert (found.created_at is None) is (found.uuid7 is not None)
    assert Order.objects.exclude(uuid7=None).count() >= 3


@on_a_server
def test_rows_that_others_hold_are_waited_for_in_smaller_batches():
    insert_orders([None] * 20)
    made = planned("uuid7", 16)
    sizes = []
    with a_row_held(hold_the_last) as let_go:
        control = Control()
        control.pause = lambda seconds: seconds and let_go.set()
        run.execute(made, sizes.append, control=control)
    assert sum(sizes) == 20
    assert sizes[0] <= 8


def hold_the_last():
    Order.objects.filter(pk=Order.objects.order_by("-pk")[6].pk).update(name="held")


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


def test_every_command_continues_with_what_another_run_left():
    insert_orders([None] * 6)
    target = replaced(find_target(label("uuid7"), Given("created_at"), "default"), "on_null", "now")

    class Enough(Exception):
        pass

    def stop(count):
        raise Enough

    with pytest.raises(Enough):
        run.execute(plan.build(target, 2), stop)
    assert saved_run("uuid7").rows_filled == 2
    run.execute(plan.build(target, 2))
    assert saved_run("uuid7").rows_filled == 6
    assert ascends(ranks_by_place("uuid7"))
    assert partial(filled, "uuid7", 6)()
