"""Rows that old code inserts, without ids, during a run."""

from datetime import UTC, datetime

import pytest

from django_sortable_ids.backfill import run, writer
from django_sortable_ids.errors import BackfillError
from tests.combinations import each_with
from tests.support import elsewhere, on_statement

from .shop.models import Tight
from .support import (
    MICROSECOND,
    SECOND,
    START,
    TIMED,
    ascends,
    build,
    concurrently,
    each_kind,
    each_kind_with_time,
    field_of,
    fill,
    ids,
    insert,
    insert_orders,
    is_strict,
    rows,
    saved_run,
    times_are_right,
)

pytestmark = pytest.mark.usefixtures("transactional_db")


def inserting(times, after):
    """Inserts rows, on another connection, after the batch of that number."""
    return concurrently(after, lambda: insert_orders(times))


LATE = {
    "in front of all": [START - SECOND],
    "between": [START + 500_000 * MICROSECOND],
    "in a tick that is full of ids": [START],
    "many in one tick": [START] * 150,
    "in several ticks": [START + i * SECOND for i in range(4)] * 2,
    "between the microseconds of a tick": [START + 5 * MICROSECOND] * 3,
    "in two gaps of a tick": [START + MICROSECOND, START + 7 * MICROSECOND] * 2,
    "where the run stands": [START + 2 * SECOND] * 3,
}


@pytest.mark.parametrize(
    ("name", "place", "after"),
    each_with(["uuid7", "reversed_kuuid", "snowflake"], [*LATE], [2, 4]),
)
def test_rows_behind_the_cursor_are_sorted_in(name, place, after):
    late = LATE[place]
    insert_orders([START + i % 10 * MICROSECOND for i in range(10)])
    insert_orders([START + (1 + i // 5) * SECOND for i in range(10)])
    result = fill(name, 5, inserting(late, after))
    assert (result.filled, result.remaining) == (20 + len(late), 0)
    assert is_strict(name)
    assert times_are_right(name)
    assert saved_run(name).rows_filled == result.filled


def test_late_rows_of_different_ticks_share_a_transaction():
    insert_orders([START + 50 * SECOND])
    fill("uuid7")
    insert_orders([START + number // 2 * SECOND for number in range(80)])
    with on_statement("^UPDATE .*testapp_order") as updates:
        assert fill("uuid7").filled == 80
    assert len(updates) == 1
    assert is_strict("uuid7")


def test_a_late_row_whose_time_has_no_id_is_named():
    insert_orders([START])
    planned, too_early = build("uuid7", 1), datetime(1960, 1, 1, tzinfo=UTC)
    with pytest.raises(BackfillError, match=r"^stopped at testapp\.Order \d+, created at 1960-"):
        run.execute(planned, inserting([too_early], 1))


def test_late_rows_leave_room_for_those_that_are_looked_at_later(monkeypatch):
    monkeypatch.setattr(writer, "LATE_ROWS", 2)
    insert(Tight, [{"created_at": START + SECOND}])
    planned = build("shop.Tight.eighth")
    late = [{"created_at": START}] * 7
    assert run.execute(planned, concurrently(1, lambda: insert(Tight, late))).filled == 8
    assert is_strict("shop.Tight.eighth")


def test_a_late_row_where_the_run_stands_leaves_those_after_it_to_the_next_run():
    insert_orders([START + 5 * MICROSECOND])
    planned = build("uuid7")
    late, later = inserting([START - SECOND, START], 1), inserting([START + 9 * MICROSECOND], 2)
    result = run.execute(planned, lambda filled: (late(filled), later(filled)))
    assert (result.filled, result.remaining) == (3, 1)
    assert fill("uuid7").filled == 1
    assert is_strict("uuid7")


def test_late_rows_stay_in_front_of_the_place_where_the_run_stands_though_its_row_has_gone():
    """The rows after it are given the rest of the tick, later."""
    keys = [10, 20, 30, 40, 50, 60, 70, 80]
    insert(Tight, [{"id": key, "created_at": START} for key in keys])
    planned = build("shop.Tight.eighth", 4)

    def edit():
        rows("shop.Tight.eighth").filter(pk__gt=10).delete()
        insert(Tight, [{"id": key, "created_at": START} for key in (21, 22)])

    assert run.execute(planned, concurrently(1, edit)).filled == 6
    insert(Tight, [{"id": key, "created_at": START} for key in (51, 52, 53, 54)])
    assert fill("shop.Tight.eighth").filled == 4
    assert is_strict("shop.Tight.eighth")


@each_kind
def test_the_row_where_the_run_ended_has_lost_its_id(name):
    insert_orders([START, START, START])
    fill(name)
    last = rows(name)[2].pk
    rows(name).filter(pk=last).update(**{name: None})
    result = fill(name)
    assert (result.filled, result.remaining) == (1, 0)
    assert None not in ids(name)
    assert name == "number" or is_strict(name)


@each_kind_with_time
def test_rows_after_the_cursor_are_no_neighbours_of_late_rows(name):
    """The application has generated their ids, the first ones of the tick."""
    scheme = field_of(name).scheme
    insert_orders([START, START + 6 * MICROSECOND])
    fill(name)
    tick = scheme.tick(START)
    first, last = ids(name)
    insert_orders([START + 3 * MICROSECOND, *[START + 9 * MICROSECOND] * 3])
    later = rows(name).filter(created_at=START + 9 * MICROSECOND)
    for number, pk in enumerate(later.values_list("pk", flat=True)):
        value = scheme.from_int(scheme.layout.join(tick, number))
        rows(name).filter(pk=pk).update(**{name: value})
    assert fill(name).filled == 1
    late = rows(name).filter(created_at=START + 3 * MICROSECOND).values_list(name, flat=True).get()
    assert ascends([scheme.parts(each)[1] for each in (first, late, last)])


@each_kind
def test_a_late_row_that_moves_before_it_gets_its_id_is_left_for_the_next_run(name):
    insert_orders([START + 9 * SECOND])
    planned, moves = build(name, 1), []

    def progress(_):
        if not moves:
            elsewhere(lambda: insert_orders([START, START + SECOND]))
        if len(moves) == 1:
            elsewhere(lambda: late.update(created_at=START + 8 * SECOND))
        moves.append(late.count())

    late = rows(name).filter(created_at=START + SECOND)
    result = run.execute(planned, progress)
    if name in TIMED:
        assert (result.filled, result.remaining) == (2, 1)
    assert fill(name).remaining == 0
    assert name not in TIMED or (times_are_right(name) and is_strict(name))


def test_a_late_row_that_has_gone_or_got_its_id_is_passed_over(monkeypatch):
    insert_orders([START, START + SECOND])
    planned = build("uuid7", 1)
    calls = []

    def progress(filled):
        calls.append(filled)
        if len(calls) == 2:
            elsewhere(lambda: insert_orders([START - i * SECOND for i in range(1, 4)]))
        if len(calls) == 3:
            late = rows("uuid7").filter(uuid7=None)
            elsewhere(late[0].delete)

    result = run.execute(planned, progress)
    assert (result.filled, result.remaining) == (4, 0)
    assert is_strict("uuid7")


@pytest.mark.parametrize("name", ["uuid7", "number"])
@pytest.mark.parametrize("step", [1, -1], ids=["behind the run", "in front of it"])
def test_it_ends_though_inserts_go_on_and_says_what_remains(name, step):
    insert_orders([START] * 3)
    batches = 0

    def insert_one_more(filled):
        nonlocal batches
        batches += 1
        assert batches < 50, "it never ends"
        elsewhere(lambda: insert_orders([START + step * batches * SECOND]))

    result = fill(name, 1, insert_one_more)
    remaining = rows(name).filter(**{name: None}).count()
    assert result.remaining == remaining > 0
    assert saved_run(name).finished_at is not None
    assert fill(name).remaining == 0
