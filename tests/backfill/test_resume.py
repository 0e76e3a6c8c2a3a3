"""A run that was stopped resumes where it stopped."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.models import BackfillRun
from tests.combinations import each_with
from tests.support import on_statement, raising, refusal_of

from .shop.models import Plain
from .support import (
    SECOND,
    START,
    Stop,
    build,
    command,
    fill,
    find,
    ids,
    insert,
    insert_orders,
    is_strict,
    refusal,
    rows,
    saved_run,
    stop_after,
)

pytestmark = pytest.mark.django_db


def fill_until(name, size, batches):
    with pytest.raises(Stop):
        fill(name, size, stop_after(batches))


def test_a_batch_whose_cursor_is_not_saved_leaves_no_ids():
    insert_orders([START, START, START + SECOND, START + SECOND])
    fill_until("uuid7", 2, 1)
    state = BackfillRun.objects.values("cursor", "batches", "rows_filled", "finished_at")
    before, ids_before = state.get(), ids("uuid7")
    with on_statement('SET ["`]cursor["`]', raising(Stop())), pytest.raises(Stop):
        fill("uuid7", 2)
    assert state.get() == before
    assert ids("uuid7") == ids_before


def test_a_cursor_with_a_key_from_before_a_move_of_keys():
    """Its row is found by its id."""
    insert(Plain, [{"created_at": START, "updated_at": START}] * 4)
    fill_until(PLAIN, 2, 1)
    BackfillRun.objects.update(cursor=saved_run(PLAIN).cursor | {"pk": f"{UUID(int=1)}"})
    assert "has filled 2 rows with --created-from created_at" in refusal(PLAIN, "--created-at=now")
    assert fill(PLAIN).filled == 2
    BackfillRun.objects.update(cursor=saved_run(PLAIN).cursor | {"pk": f"{UUID(int=1)}"})
    assert command(PLAIN, "--verify")[1].startswith("all different, strictly in order")
    assert command(PLAIN)[-2] == "0 rows filled."


# New rows, after the end


def test_rows_that_appear_later_are_a_new_run():
    insert_orders([START] * 5)
    fill("uuid7")
    first = saved_run("uuid7")
    insert_orders([START + SECOND] * 3 + [START - SECOND])
    planned = build("uuid7")
    assert (planned.missing, planned.resumed) == (4, None)
    assert run.execute(planned).filled == 4
    second = saved_run("uuid7")
    assert second.pk == first.pk
    assert second.rows_filled == 4
    assert second.started_at > first.started_at
    assert second.finished_at > first.finished_at
    assert is_strict("uuid7")


# Other options than before


PLAIN = "shop.Plain.public_id"
OTHER_SOURCES = {
    "--created-from updated_at": ("--created-from=updated_at",),
    "--created-at now": ("--created-at=now",),
    "--created-from pk --start 2015-01-01T00:00:00+00:00 --end 2016-01-01T00:00:00+00:00": (
        *("--created-from=pk", "--start=2015-01-01T00:00Z", "--end=2016-01-01T00:00Z"),
    ),
}


@pytest.mark.parametrize(("named", "has_stopped"), each_with([*OTHER_SOURCES], [True, False]))
def test_rows_of_another_source_are_refused_until_the_ids_are_gone(named, has_stopped):
    times = {"created_at": START, "updated_at": START + SECOND}
    insert(Plain, [times] * 3)
    if has_stopped:
        fill_until(PLAIN, 2, 1)
    else:
        fill(PLAIN)
        insert(Plain, [times])
    count = "2 rows" if has_stopped else "3 rows"
    for mode in ((), ("--dry-run",)):
        assert refusal(PLAIN, *OTHER_SOURCES[named], *mode) == (
            f"a run on shop.Plain.public_id has filled {count} with --created-from created_at, and "
            f"now it is {named}: the rows would not sort together. Continue with the old options, "
            f"or set the column to NULL to start again; to keep ids of both, delete the BackfillRun"
        )
    assert rows(PLAIN).filter(public_id=None).count() == 1
    command(PLAIN)
    assert "strictly in order, and of their rows' times" in command(PLAIN, "--verify")[1]

    rows(PLAIN).update(public_id=None)
    newest = Plain.objects.create(created_at=datetime.now(UTC), updated_at=datetime.now(UTC))
    command(PLAIN, *OTHER_SOURCES[named])
    command(PLAIN, "--verify")
    assert rows(PLAIN).get(pk=newest.pk).public_id == newest.public_id


def test_an_unfinished_run_keeps_its_source_if_its_other_rows_are_gone():
    insert(Plain, [{"created_at": START}] * 3)
    fill_until(PLAIN, 2, 1)
    rows(PLAIN).filter(public_id=None).delete()
    assert "has filled 2 rows with --created-from created_at" in refusal(PLAIN, "--created-at=now")
    command(PLAIN)
    assert saved_run(PLAIN).finished_at


@pytest.mark.parametrize("is_dropped", [False, True])
def test_the_ids_of_an_unfinished_run_are_gone(is_dropped):
    insert_orders([START + n * SECOND for n in range(10)])
    fill_until("uuid7", 6, 1)
    rows("uuid7").update(uuid7=None)
    if is_dropped:
        BackfillRun.objects.update(options=saved_run("uuid7").options | {"created_from": "nope"})
    lines = command("uuid7", "--created-from=created_at")
    assert any(line.startswith("100 %  10/10 rows") for line in lines), lines
    assert (saved_run("uuid7").rows_filled, saved_run("uuid7").batches) == (10, 2)
    assert is_strict("uuid7")


def test_a_source_that_is_gone_is_known_by_its_ids():
    insert_orders([START] * 3)
    fill_until("uuid7", 2, 1)
    BackfillRun.objects.update(options=saved_run("uuid7").options | {"created_from": "nope"})
    assert "with --created-from nope, and now it is --created-from created_at" in refusal(
        "uuid7", "--created-from=created_at"
    )


@pytest.mark.parametrize(
    ("name", "key", "was", "difference"),
    [
        ("uuid7", "scheme", "uuid6", "scheme = 'uuid6', and now it is scheme = 'uuid7'"),
        ("number", "scheme_step", "8", "scheme_step = '8', and now it is scheme_step = '7'"),
    ],
)
def test_another_scheme_is_refused(name, key, was, difference):
    insert_orders([START] * 3)
    fill_until(name, 2, 1)
    stopped = saved_run(name)
    stopped.options[key] = was
    stopped.save()
    assert difference in refusal_of(plan.build, find(name), 10)
