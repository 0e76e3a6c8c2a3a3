"""``--verify`` after somebody edited times, or ids: what is a failure, and what can't be told."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from django_sortable_ids.backfill import target
from django_sortable_ids.backfill.planning import plan
from django_sortable_ids.backfill.sources.find import Given
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.backfill.supervising import run
from django_sortable_ids.backfill.verifying import verify
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.times.columns import TextColumn, TimeColumn
from tests.combinations import each_with
from tests.testapp.models import Order

from .shop.models import Old
from .support import (
    MICROSECOND,
    SECOND,
    START,
    TIMED,
    disorder_of_ties,
    field_of,
    fill,
    find,
    insert,
    insert_orders,
    label,
    rows,
)
from .test_verify import swap

pytestmark = pytest.mark.django_db

KSUID = "shop.Seconds.ksuid"
SECONDS = [f"shop.Seconds.{name}" for name in ("ksuid", "xid", "objectid")]
COARSE = [name for name in TIMED if field_of(name).scheme.resolution_ns >= 10_000] + SECONDS
"""Whose ticks have room for edits, in the microseconds of a database."""

READERS = ["the database, if it can", "Python"]
PAGES = [1, 2, 3, 100]
readers = pytest.mark.parametrize("read_by", READERS, indirect=True)


def pages_and_readers(names, pages=PAGES):
    """Every name, in pages of every size and judged by everyone in turn."""
    return pytest.mark.parametrize(
        ("name", "page", "read_by"),
        each_with(names, pages, READERS),
        indirect=["page", "read_by"],
    )


@pytest.fixture
def page(request, monkeypatch):
    """How many rows are read at once."""
    monkeypatch.setattr(verify, "PAGE", request.param)
    monkeypatch.setattr(target, "PAGE", request.param)


def run_command(name):
    """Lines and exit code."""
    out = StringIO()
    try:
        call_command("backfill_ids", label(name), verify=True, stdout=out)
    except CommandError as error:
        return out.getvalue().splitlines(), error.returncode
    return out.getvalue().splitlines(), 0


def edit(name, pk, created):
    """As psql does it."""
    model = field_of(name).model
    stored = model._meta.get_field("created_at").get_db_prep_save(created, connection)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET created_at = %s WHERE id = %s", [stored, pk])


def insert_rows(name, times):
    same = {"name": ""} if field_of(name).model is Order else {}
    insert(field_of(name).model, [{"created_at": at, **same} for at in times])


def one_tick(name, count=6):
    """Rows of different times within a tick, with their ids; the times, and the keys."""
    start, end = field_of(name).scheme.tick_span(START)
    step = (end - start) // (count + 2)
    times = [start + i * step for i in range(count)]
    insert_rows(name, [start - SECOND, *times, end + SECOND])
    fill(name)
    return times, list(rows(name).values_list("pk", flat=True))[1:-1]


@pages_and_readers(COARSE)
def test_an_edit_within_the_tick_is_no_failure(name, page, read_by):
    times, keys = one_tick(name)
    edit(name, keys[1], times[4] + MICROSECOND)
    assert run_command(name) == (
        [
            "8 rows, 8 with an id",
            "1 rows are out of order within one tick of their ids: either a time was edited later, "
            "or an id is wrong",
            f"  {keys[1]} comes after {keys[4]}, but its id does not",
            "all different, the others strictly in order, and of their rows' times",
        ],
        0,
    )
    # Not for ever: whoever edits it back finds all well.
    edit(name, keys[1], times[1])
    assert run_command(name)[0][1:] == [
        "all different, strictly in order, and of their rows' times"
    ]


@pages_and_readers(TIMED + SECONDS)
def test_rows_of_one_time_that_changed_places_fail_where_no_edit_explains_it(name, page, read_by):
    insert_rows(name, [START] * 2 + [START + SECOND] * 3 + [START + 2 * SECOND])
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    swap(name, keys[3], keys[4])
    lines, code = run_command(name)
    if disorder_of_ties(name) == "unordered":
        assert (lines[1], code) == ("1 rows are out of order", 1)
    else:
        assert lines[1].startswith("1 rows are out of order within one tick of their ids: ")
        assert code == 0
    assert lines[2] == f"  {keys[4]} comes after {keys[3]}, but its id does not"


@readers
@pytest.mark.parametrize("name", TIMED + SECONDS)
def test_ids_of_two_times_that_were_exchanged_are_listed(name, read_by):
    insert_rows(name, [START + i * SECOND for i in range(12)])
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    swap(name, keys[2], keys[3])
    swap(name, keys[5], keys[9])
    # And an edit of a time, which is none.
    edit(name, keys[7], START + 6.5 * SECOND)
    lines, code = run_command(name)
    assert lines[1].startswith("5 ids are of another time than their row: ")
    assert lines[2:5] == [
        "4 of them have the time of another row, whose id has theirs: either both times were "
        "edited later, or the ids are wrong",
        f"  {keys[2]} and {keys[3]} have ids of each other's time",
        f"  {keys[5]} and {keys[9]} have ids of each other's time",
    ]
    assert code == 0


def test_exchanged_ids_are_found_in_pages_far_apart(monkeypatch):
    monkeypatch.setattr(verify, "PAGE", 2)
    insert_rows(KSUID, [START + i * SECOND for i in range(12)])
    fill(KSUID)
    keys = list(rows(KSUID).values_list("pk", flat=True))
    swap(KSUID, keys[1], keys[10])
    found = verify.verify(find(KSUID))
    assert (found.other_time, found.exchanged, found.failures) == (2, 2, [])


@readers
def test_times_that_were_all_moved_are_no_exchange(read_by):
    """A wrong zone, corrected: each row has the time that another one had."""
    insert_rows(KSUID, [START + i * SECOND for i in range(20)])
    fill(KSUID)
    for pk, created in rows(KSUID).reverse().values_list("pk", "created_at"):
        edit(KSUID, pk, created + 5 * SECOND)
    found = verify.verify(find(KSUID))
    assert (found.other_time, found.exchanged, found.failures) == (20, 0, [])


@pytest.mark.parametrize(
    ("name", "kept", "read_by"), each_with(TIMED, [0, 1, 2], READERS), indirect=["read_by"]
)
def test_no_order_is_praised_where_no_two_rows_were_compared(name, kept, read_by):
    insert_orders([START + i * SECOND for i in range(5)])
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    rows(name).filter(pk__in=keys[kept:]).update(created_at=START + 60 * SECOND)
    lines, code = run_command(name)
    order = ", strictly in order" if kept == 2 else "; their order could not be checked"
    assert (lines[-1], code) == (f"all different{order}", 0)


@readers
def test_no_more_are_compared_than_there_is_room_for(read_by, monkeypatch):
    monkeypatch.setattr("django_sortable_ids.backfill.verifying.verification.MOST", 3)
    insert_rows(KSUID, [START + i * SECOND for i in range(20)])
    fill(KSUID)
    for pk, created in rows(KSUID).reverse().values_list("pk", "created_at"):
        edit(KSUID, pk, created + 5 * SECOND)
    lines, code = run_command(KSUID)
    assert lines[2] == "only the first 3 of them were checked for exchanged ids"
    assert code == 0


@readers
@pytest.mark.parametrize("name", COARSE)
def test_the_same_id_twice_in_a_tick_is_a_failure(name, read_by):
    """Of different times, too: an edit of a time makes no id."""
    one_tick(name)
    edited = find(name)
    found = verify.verify(edited)
    assert found.failures == []
    page_check = verify.Verifier(edited)._check
    again = verify.Verification()
    page_check.check(edited.rows, again, None)
    value = rows(name)[2].__dict__[field_of(name).name]
    previous = (0, value, START - SECOND)
    repeated = verify.Verification()
    page_check.check(edited.rows.filter(pk=rows(name)[2].pk), repeated, previous)
    assert (repeated.unordered, repeated.undecided) == (1, 0)


@readers
def test_times_cut_to_seconds_make_ties_that_were_none(read_by):
    """As a change of the column's precision, or loaddata, which keeps three digits."""
    times = [START + timedelta(microseconds=100_123 * i) for i in range(9)]
    insert_rows(KSUID, times[::-1])
    fill(KSUID)
    for pk in rows(KSUID).values_list("pk", flat=True):
        edit(KSUID, pk, START)
    lines, code = run_command(KSUID)
    assert code == 0
    assert lines[1].startswith("8 rows are out of order within one tick of their ids: ")


@pages_and_readers(COARSE)
def test_an_edit_to_the_time_of_another_row_is_no_failure(name, page, read_by):
    times, keys = one_tick(name)
    first, second = keys[1], keys[0]
    edit(name, first, times[1] + MICROSECOND)
    edit(name, second, times[1] + MICROSECOND)
    # The first key has the first id.
    assert run_command(name)[0][1] == "all different, strictly in order, and of their rows' times"
    swap(name, first, second)
    lines, code = run_command(name)
    assert lines[1].startswith("1 rows are out of order within one tick of their ids: ")
    assert (lines[2], code) == (f"  {first} comes after {second}, but its id does not", 0)


@pages_and_readers(COARSE, [7, 100])
@pytest.mark.parametrize("shuffled", [4, 20])
def test_ids_of_one_time_that_were_shuffled_are_a_failure(name, shuffled, page, read_by):
    """More than single edits explain, where they are ten, and a quarter of such rows."""
    insert_rows(name, [START] * 31 + [START + SECOND])
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    for place in range(1, shuffled, 2):
        swap(name, keys[place], keys[place + 1])
    lines, code = run_command(name)
    if shuffled == 4:
        assert (len(lines), code) == (5, 0)
        return
    assert lines[1:4] == [
        "10 rows are out of order",
        "  10 of them have the time of the row before, as do 30 rows in all: too many "
        "for edits of single times",
        f"  {keys[2]} comes after {keys[1]}, but its id does not",
    ]
    assert code == 1
    # The quarter of more rows is more.
    insert_rows(name, [START + SECOND] * 10)
    run.execute(plan.build(find(name), 50))
    assert run_command(name)[1] == 0


@readers
def test_whole_seconds_of_a_column_that_has_no_others_are_known_to_have_been_ties(
    read_by, monkeypatch
):
    monkeypatch.setattr(TimeColumn, "resolution", SECOND)
    monkeypatch.setattr(TextColumn, "resolution", SECOND)
    insert_rows(KSUID, [START] * 9)
    fill(KSUID)
    keys = list(rows(KSUID).values_list("pk", flat=True))
    swap(KSUID, keys[7], keys[8])
    assert run_command(KSUID)[1] == 1
    BackfillRun.objects.all().delete()
    with pytest.raises(CommandError, match="1 rows are out of order"):
        call_command(
            "backfill_ids",
            label(KSUID),
            created_from="created_at",
            verify=True,
            stdout=StringIO(),
        )


def test_a_sequence_has_no_ticks():
    insert_orders([START + i * SECOND for i in range(5)])
    fill("number")
    keys = list(rows("number").values_list("pk", flat=True))
    swap("number", keys[1], keys[2])
    assert run_command("number")[1] == 1


def converted(count=6):
    old = field_of("shop.Old.old_ksuid").scheme
    values = [old.generate(START + i * SECOND) for i in range(count)]
    insert(Old, [{"name": "", "text": "", "old_ksuid": value} for value in values])
    found = find_target("shop.Old.snowflake", Given(None, "old_ksuid"), "default")
    run.execute(plan.build(found, 4))
    return found, list(Old.objects.order_by("old_ksuid").values_list("pk", flat=True))


@pytest.mark.parametrize(("one", "other"), [(1, 2), (0, 5)])
def test_converted_ids_that_were_exchanged_are_a_failure(one, other):
    found, keys = converted()
    assert verify.verify(found).failures == []
    values = dict(Old.objects.values_list("pk", "snowflake"))
    Old.objects.update(snowflake=None)
    values[keys[one]], values[keys[other]] = values[keys[other]], values[keys[one]]
    for pk, value in values.items():
        Old.objects.filter(pk=pk).update(snowflake=value)
    assert verify.verify(found).failures == [
        "2 rows have an id of another row's time, and that row has one of theirs"
    ]
