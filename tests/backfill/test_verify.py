"""``--verify``: every row once, in order, and what is wrong with it."""

import tracemalloc
import uuid
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from django_sortable_ids.backfill import target
from django_sortable_ids.backfill.verifying import page_checks
from django_sortable_ids.backfill.verifying import verify as module
from django_sortable_ids.backfill.verifying.verification import Verification
from django_sortable_ids.backfill.verifying.verify import verify
from django_sortable_ids.models import BackfillRun
from tests.combinations import each_with
from tests.schemes.support import ids_at

from .shop.models import Adopted, Plain
from .support import (
    FIELDS,
    MICROSECOND,
    MILLISECOND,
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
    saved_run,
)

pytestmark = pytest.mark.django_db

PLAIN = "shop.Plain.public_id"


def run_command(name):
    """Output and error of the command."""
    out = StringIO()
    try:
        call_command("backfill_ids", label(name), verify=True, stdout=out)
    except CommandError as error:
        return out.getvalue().splitlines(), (str(error), error.returncode)
    return out.getvalue().splitlines(), None


def plain_rows(count=6):
    insert(Plain, [{"created_at": START + i // 2 * SECOND} for i in range(count)])
    fill(PLAIN)
    return list(rows(PLAIN).values_list("pk", flat=True))


def swap(name, one, other):
    first, second = (
        rows(name).values_list(field_of(name).name).get(pk=pk)[0] for pk in (one, other)
    )
    column = field_of(name).name
    rows(name).filter(pk__in=[one, other]).update(**{column: None})
    rows(name).filter(pk=one).update(**{column: second})
    rows(name).filter(pk=other).update(**{column: first})


@pytest.mark.parametrize("name", FIELDS)
def test_it_passes_after_a_run(name):
    insert_orders([START + i // 7 * SECOND for i in range(20)])
    fill(name, 3)
    assert run_command(name) == (
        [
            "20 rows, 20 with an id",
            "all different, strictly in order, and of their rows' times",
        ],
        None,
    )


@pytest.mark.parametrize("name", FIELDS)
def test_it_finds_a_row_without_an_id(name):
    insert_orders([START] * 5)
    fill(name)
    rows(name).filter(pk=rows(name)[2].pk).update(**{name: None})
    assert run_command(name) == (
        ["5 rows, 4 with an id", "1 rows have no id"],
        (f"testapp.Order.{name}: 1 rows have no id", 1),
    )


@pytest.mark.parametrize("name", FIELDS)
def test_it_finds_two_rows_of_a_tick_that_changed_places(name):
    insert_orders([START] * 5)
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    swap(name, keys[1], keys[2])
    example = f"  {keys[2]} comes after {keys[1]}, but its id does not"
    if disorder_of_ties(name) == "unordered_ties":
        lines, error = run_command(name)
        assert lines[1].startswith("1 rows are out of order within one tick of their ids: ")
        assert (lines[2], error) == (example, None)
        return
    assert run_command(name) == (
        ["5 rows, 5 with an id", "1 rows are out of order", example],
        (f"testapp.Order.{name}: 1 rows are out of order", 1),
    )


def test_three_examples_are_enough():
    keys = plain_rows(20)
    for one, other in zip(keys[::2], keys[1::2], strict=True):
        swap(PLAIN, one, other)
    lines, error = run_command(PLAIN)
    assert lines[1] == "10 rows are out of order"
    assert len(lines) == 6
    assert error == (f"{PLAIN}: 10 rows are out of order", 1)


def test_it_finds_two_rows_with_one_id():
    keys = plain_rows()
    other = rows(PLAIN).get(pk=keys[4]).public_id
    rows(PLAIN).filter(pk=keys[5]).update(public_id=other)
    lines, error = run_command(PLAIN)
    assert lines[:3] == [
        "6 rows, 6 with an id",
        "1 rows share an id with another",
        "1 rows are out of order",
    ]
    assert error == (f"{PLAIN}: 1 rows share an id with another; 1 rows are out of order", 1)


def test_it_finds_the_same_id_in_rows_far_apart():
    keys = plain_rows()
    other = rows(PLAIN).get(pk=keys[0]).public_id
    rows(PLAIN).filter(pk=keys[5]).update(public_id=other)
    found = verify(find(PLAIN))
    assert (found.duplicates, found.other_time, found.unordered) == (1, 1, 0)


def test_everything_at_once():
    keys = plain_rows(8)
    swap(PLAIN, keys[0], keys[1])
    rows(PLAIN).filter(pk=keys[7]).update(public_id=None)
    found = verify(find(PLAIN))
    assert (found.rows, found.missing, found.unordered_ties) == (8, 1, 1)
    assert found.failures == ["1 rows have no id"]


@pytest.mark.parametrize("name", TIMED)
def test_rows_of_another_time_are_counted_and_are_no_failure(name):
    insert_orders([START + i * SECOND for i in range(5)])
    fill(name)
    moved = rows(name)[1].pk
    rows(name).filter(pk=moved).update(created_at=START + 3 * SECOND + SECOND / 2)
    lines, error = run_command(name)
    if field_of(name).scheme.resolution_ns == 10**9:
        # Half a second is nothing to it: the id is of another second all the same.
        assert rows(name)[3].pk == moved
    assert lines == [
        "5 rows, 5 with an id",
        "1 ids are of another time than their row: generated by the application, or the row's time "
        "was edited later",
        "all different, strictly in order",
    ]
    assert error is None


def test_rows_that_the_application_made_behind_the_run_are_not_judged():
    insert_orders([START] * 5)
    fill("uuid7")
    scheme = field_of("uuid7").scheme
    made = sorted(scheme.generate(START + SECOND) for _ in range(2))
    insert_orders([START + SECOND] * 2)
    for pk, value in zip(rows("uuid7").values_list("pk", flat=True)[5:], made[::-1], strict=True):
        rows("uuid7").filter(pk=pk).update(uuid7=value)
    assert verify(find("uuid7")) == Verification(rows=7)
    BackfillRun.objects.all().delete()
    assert verify(find("uuid7")).unordered_ties == 1


@pytest.mark.parametrize(
    ("name", "read_by"),
    [
        *((name, "the database, if it can") for name in TIMED),
        *((name, "Python") for name in ("uuid7", "reversed_kuuid")),
    ],
    indirect=["read_by"],
)
def test_ids_of_the_application_beside_those_of_the_run(name, read_by):
    """Old and new code at the same time: rows of a tick, of which some have an id of that tick."""
    insert_orders([START + i // 4 * SECOND for i in range(12)])
    keys = list(rows(name).values_list("pk", flat=True))
    scheme = field_of(name).scheme
    made = ids_at(scheme, [START + SECOND] * 2)
    made.sort(key=lambda value: page_checks.rank(scheme, value), reverse=True)
    for pk, value in zip((keys[4], keys[6]), made, strict=True):
        rows(name).filter(pk=pk).update(**{name: value})
    fill(name, 3)
    assert saved_run(name).given_from == START + SECOND
    found = verify(find(name))
    assert (found.failures, found.rows) == ([], 12)
    assert found.unordered_concurrent > 0
    lines, error = run_command(name)
    assert error is None
    assert lines[1:] == [
        f"{found.unordered_concurrent} rows are out of order, but of times when the application "
        f"generated ids as well",
        "all different, the others strictly in order, and of their rows' times",
    ]
    swap(name, keys[1], keys[2])
    assert getattr(verify(find(name)), disorder_of_ties(name)) == 1


def test_from_when_on_the_application_makes_ids():
    """By what is there when the run begins, in rows of their ids' times; for good."""
    insert_orders([START + i * SECOND for i in range(6)])
    keys = list(rows("uuid7").values_list("pk", flat=True))
    give("uuid7", keys[0], START + 5 * SECOND)
    give("uuid7", keys[3], START + 3 * SECOND)
    fill("uuid7")
    assert saved_run("uuid7").given_from == START + 3 * SECOND
    rows("uuid7").filter(pk=keys[1]).update(uuid7=None)
    fill("uuid7")
    assert saved_run("uuid7").given_from == START + 3 * SECOND
    before = timezone.now()
    fill("ulid")
    assert before <= saved_run("ulid").given_from <= timezone.now()
    rows("uuid7").update(uuid7=None)
    fill("uuid7")
    assert before <= saved_run("uuid7").given_from <= timezone.now()


@pytest.mark.parametrize("read_by", ["the database", "Python"], indirect=True)
def test_they_share_the_whole_tick_with_those_of_the_run(read_by):
    """A row of a moment before it is committed after it, with an id of the same second."""
    name = "shop.Seconds.ksuid"
    insert(field_of(name).model, [{"created_at": START + 3 * MILLISECOND}] * 2)
    fill(name)
    BackfillRun.objects.update(given_from=START + 5 * MILLISECOND)
    swap(name, *rows(name).values_list("pk", flat=True))
    found = verify(find(name))
    assert (found.unordered_concurrent, found.unordered_ties, found.failures) == (1, 0, [])


def give(name, pk, at):
    value = field_of(name).scheme.generate(at)
    rows(name).filter(pk=pk).update(**{field_of(name).name: value})


def test_rows_without_a_time():
    insert_orders([START] * 3)
    fill("uuid7")
    insert_orders([None, None])
    given = field_of("uuid7").scheme.generate()
    rows("uuid7").filter(pk=rows("uuid7").filter(created_at=None)[0].pk).update(uuid7=given)
    found = verify(find("uuid7"))
    assert (found.rows, found.missing, found.without_time, found.other_time) == (5, 1, 1, 0)
    assert found.unordered == 0


def test_a_time_that_the_scheme_cannot_hold():
    insert_orders([START] * 3)
    fill("snowflake")
    rows("snowflake").filter(pk=rows("snowflake")[0].pk).update(created_at=START.replace(year=2005))
    found = verify(find("snowflake"))
    assert (found.without_time, found.other_time, found.failures) == (1, 0, [])


def test_an_empty_table():
    assert verify(find("uuid7")) == Verification()


def test_nothing_is_written():
    insert_orders([START] * 3)
    fill("uuid7")
    before = BackfillRun.objects.values().get()
    writes = []

    def note(execute, sql, params, many, context):
        writes.extend(sql for word in ("INSERT", "UPDATE", "DELETE") if sql.startswith(word))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        verify(find("uuid7"))
    assert writes == []
    assert BackfillRun.objects.values().get() == before


@pytest.mark.parametrize(("page", "name"), each_with([1, 2, 3, 7, 14, 100], FIELDS))
def test_pages_may_end_anywhere(monkeypatch, page, name):
    monkeypatch.setattr(target, "PAGE", page)
    monkeypatch.setattr(module, "PAGE", page)
    insert_orders([START + i // 4 * SECOND for i in range(14)])
    fill(name)
    assert verify(find(name)) == Verification(rows=14)
    keys = list(rows(name).values_list("pk", flat=True))
    swap(name, keys[5], keys[6])
    example = f"{keys[6]} comes after {keys[5]}, but its id does not"
    kind = disorder_of_ties(name)
    expected = Verification(rows=14, **{kind: 1}, examples_of={kind: [example]})
    assert verify(find(name)) == expected


@pytest.mark.parametrize("name", TIMED)
def test_a_time_is_that_of_the_id_in_its_own_tick_and_no_other(name):
    """Where the database counts, an hour in front of the scheme's first tick too."""
    scheme = field_of(name).scheme
    first = scheme.earliest
    start, end = scheme.tick_span(START)
    made = [(start, START), (end - MICROSECOND, START), (end, START), (start - MICROSECOND, START)]
    if first.year > 1000:
        made += [(first, first), (first - MICROSECOND, first)]
    values = ids_at(scheme, [at for _, at in made])
    for (created, _), value in zip(made, values, strict=True):
        insert_orders([created])
        last = rows(name).order_by("-pk")[0].pk
        rows(name).filter(pk=last).update(**{name: value})
    found = verify(find(name))
    assert found.other_time + found.without_time == len(made) // 2


def test_the_database_reads_the_ids_where_it_can(monkeypatch):
    insert_orders([START + i * SECOND for i in range(5)])
    fill("uuid7")
    monkeypatch.setattr(target.Target, "walk", None)
    assert verify(find("uuid7")) == Verification(rows=5)


def test_memory_does_not_grow_with_the_table(monkeypatch):
    monkeypatch.setattr(target, "PAGE", 100)
    insert_orders([START + i // 3 * SECOND for i in range(6000)])
    fill("time64")
    found = find("time64")
    verify(found)
    tracemalloc.start()
    try:
        assert verify(found).rows == 6000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The rows together take more than a megabyte.
    assert peak < 400_000


def random_and_missing(model):
    """Three rows with a UUID of version 4, and three to fill."""
    insert(model, [{"created_at": START + i * SECOND} for i in range(6)])
    field = model._meta.get_field("public_id")
    column, key = connection.ops.quote_name(field.column), model._meta.pk.column
    pks = list(model.objects.order_by("created_at").values_list("pk", flat=True))
    with connection.cursor() as cursor:
        for pk in pks[::2]:
            stored = field.stored(connection).to_db(uuid.uuid4().int, connection)
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {key} = %s", [stored, pk])


def test_accepted_ids_of_other_versions_are_counted_apart():
    random_and_missing(Adopted)
    fill("shop.Adopted.public_id")
    lines, error = run_command("shop.Adopted.public_id")
    assert error is None
    assert lines == [
        "6 rows, 6 with an id",
        "3 ids are UUIDs of another version, which carry no time",
        "all different, strictly in order",
    ]


def test_ids_of_other_versions_that_are_not_accepted_are_a_failure():
    random_and_missing(Plain)
    fill(PLAIN)
    reason = "3 rows have a UUID of another version; the field lacks accept_other_versions=True"
    assert run_command(PLAIN) == (
        ["6 rows, 6 with an id", reason],
        (f"{PLAIN}: {reason}", 1),
    )
