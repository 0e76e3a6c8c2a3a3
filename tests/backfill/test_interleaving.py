"""Neighbours that are written in different transactions, so that PostgreSQL finds room for them."""

import random

import pytest
from django.db import connection

from django_sortable_ids.backfill import run
from django_sortable_ids.backfill.engines.base import HASHES
from django_sortable_ids.backfill.pace import Control, Stopped
from django_sortable_ids.backfill.verify import verify
from tests.support import execute

from .shop.models import Plain
from .support import (
    MILLISECOND,
    SECOND,
    START,
    build,
    concurrently,
    find,
    ids,
    insert,
    is_strict,
    rows,
    saved_run,
    times_are_right,
)

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="the others write in place"
)

NAME = "shop.Plain.public_id"
ROWS = 240


def insert_at(times):
    insert(Plain, [{"created_at": at} for at in times])


def insert_ties(count=ROWS, same=3):
    """``same`` rows of each millisecond."""
    insert_at([START + i // same * MILLISECOND for i in range(count)])


def is_interleaved(name=NAME):
    return "hashint8" in next(build(name).writer.shown_statements)[1]


def written():
    """The share of the span that is written, between two batches; None at its end."""
    span = saved_run(NAME).cursor.get("span")
    return span and span["start"] / HASHES


def assert_right():
    assert written() is None
    assert None not in ids(NAME)
    assert is_strict(NAME)
    assert times_are_right(NAME)
    assert verify(find(NAME)).failures == []


@pytest.fixture(autouse=True)
def _no_statistics(transactional_db):
    """Those of another test's rows would say where it is done."""
    execute("DELETE FROM pg_statistic WHERE starelid = 'shop_plain'::regclass")


# Where it is done


def test_neighbours_without_an_index_on_the_id():
    insert_ties()
    assert is_interleaved()
    execute("ANALYZE shop_plain")
    assert is_interleaved()


def test_rows_that_lie_anywhere_are_no_neighbours():
    times = [START + i * MILLISECOND for i in range(ROWS)]
    random.Random(7).shuffle(times)
    insert_at(times)
    execute("ANALYZE shop_plain")
    assert not is_interleaved()


def test_an_index_gets_an_entry_for_each_new_version_anyhow():
    assert not is_interleaved("shop.Tight.eighth")
    execute("CREATE INDEX shop_id ON shop_plain (created_at) WHERE public_id IS NULL")
    try:
        assert not is_interleaved()
    finally:
        execute("DROP INDEX shop_id")


def test_the_rows_of_a_part_are_spread_over_all_pages():
    insert_ties(12_000)
    control = Control()
    with pytest.raises(Stopped):
        run.execute(build(NAME, 1000), lambda _: control.stop(), control=control)
    # One in four, of each of the pages that the span has.
    span = list(rows(NAME).values_list("public_id", flat=True)[:4000])
    for start in range(0, 4000, 500):
        page = span[start : start + 500]
        assert 50 < len(page) - page.count(None) < 200
    assert rows(NAME).exclude(public_id=None).count() == 4000 - span.count(None)


# What comes out


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("same", [1, 50, ROWS])
def test_every_row_gets_its_id(size, same):
    insert_ties(same=same)
    result = run.execute(build(NAME, size))
    assert (result.filled, result.remaining) == (ROWS, 0)
    assert_right()


def test_a_span_with_more_rows_than_planned_is_written_to_its_end():
    insert_ties(205)
    planned = build(NAME, 20)
    insert_everywhere()
    assert run.execute(planned).remaining == 0
    assert_right()


def test_it_goes_on_with_the_part_that_it_stopped_at():
    insert_ties()
    # 240 rows are three spans of four parts.
    for share in ([0.25, 0.5, 0.75, None] * 3)[:-1]:
        control = Control()
        with pytest.raises(Stopped):
            run.execute(build(NAME, 20), lambda _, stop=control.stop: stop(), control=control)
        assert written() == share
    run.execute(build(NAME, 20))
    assert_right()
    assert saved_run(NAME).rows_filled == ROWS


def insert_everywhere():
    insert_at([START + i * MILLISECOND for i in range(-1, ROWS // 3 + 1)])


def delete_some():
    found = list(Plain.objects.order_by("created_at", "pk").values_list("pk", flat=True))
    Plain.objects.filter(pk__in=found[::5]).delete()


def delete_the_last_of_the_span():
    found = list(Plain.objects.order_by("created_at", "pk").values_list("pk", flat=True))
    Plain.objects.filter(pk__in=found[70:80]).delete()


def move_some():
    empty = Plain.objects.filter(public_id=None).order_by("created_at", "pk")
    for row in empty[::7]:
        Plain.objects.filter(pk=row.pk).update(created_at=row.created_at + 11 * MILLISECOND)


def move_the_last_of_the_span():
    empty = Plain.objects.filter(public_id=None).order_by("created_at", "pk")
    last = START + 26 * MILLISECOND
    empty.filter(created_at=last).update(created_at=last + SECOND)


@pytest.mark.parametrize("batch", [1, 3, 4, 9])
@pytest.mark.parametrize(
    "change",
    [
        insert_everywhere,
        delete_some,
        delete_the_last_of_the_span,
        move_some,
        move_the_last_of_the_span,
    ],
    ids=lambda change: change.__name__.replace("_", " "),
)
def test_others_change_rows_between_two_parts(change, batch):
    insert_ties()
    result = run.execute(build(NAME, 20), concurrently(batch, change))
    assert result.remaining == 0
    assert_right()


def test_an_id_that_the_application_gives_meanwhile_stays():
    insert_ties()
    value = find(NAME).field.scheme.generate()

    def give():
        taken = Plain.objects.filter(public_id=None).order_by("created_at")[21]
        Plain.objects.filter(pk=taken.pk).update(public_id=value)

    result = run.execute(build(NAME, 100), concurrently(1, give))
    assert result.remaining == 0
    assert rows(NAME).filter(public_id=value).exists()
    assert verify(find(NAME)).failures == []


def test_a_part_is_cut_when_others_hold_one_of_its_rows():
    insert_ties()
    seen = []

    def halve(execute, sql, params, many, context):
        if "hashint8" in sql:
            seen.append((params["first_hash"], params["last_hash"]))
            if len(seen) == 3:
                # What a lock that isn't given in time raises.
                execute("DO $$ BEGIN RAISE lock_not_available; END $$", None, many, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(halve):
        result = run.execute(build(NAME, 60))
    assert result.filled == ROWS
    eighths = [(0, 2), (2, 4), (4, 6), (4, 5), (5, 8)]
    assert seen == [(HASHES * i // 8, HASHES * j // 8 - 1) for i, j in eighths]
    assert saved_run(NAME).batches == 4
    assert_right()
