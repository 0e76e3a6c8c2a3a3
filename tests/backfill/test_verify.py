"""``--verify``: every row once, what is wrong with it, and what mends it."""

import json
import random
import re
import tracemalloc
import uuid

import pytest
from django.db import connection
from django.utils import timezone

from django_sortable_ids.backfill.sources import target
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.backfill.verification import Verification
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.models import BackfillRun
from tests.support import EVERYTHING, execute, limited_to, on_statement, query

from .command import called, printed
from .shop.models import Adopted, Plain, Timeless
from .support import (
    HOUR,
    MILLISECOND,
    SECOND,
    START,
    each_kind,
    each_kind_with_time,
    field_of,
    fill,
    find,
    ids_by_key,
    insert,
    insert_orders,
    label,
    rows,
    saved_run,
)

pytestmark = pytest.mark.django_db

PLAIN = "shop.Plain.public_id"


def run_command(name, **options):
    """Lines and error of the command."""
    text, error = called(label(name), verify=True, **options)
    return text.splitlines(), error and (str(error), error.returncode)


def give(name, values):
    """Store these ids, by key, as the field does."""
    column = field_of(name).name
    rows(name).filter(pk__in=values).update(**{column: None})
    for pk, value in values.items():
        rows(name).filter(pk=pk).update(**{column: value})


def swap(name, one, other):
    ids = ids_by_key(name)
    give(name, {one: ids[other], other: ids[one]})


@each_kind
def test_it_passes_after_a_run(name, monkeypatch):
    monkeypatch.setattr(target, "PAGE", 3)
    insert_orders([START + i // 7 * SECOND for i in range(20)])
    fill(name, 3)
    of_times = "" if name == "number" else ", and of their rows' times"
    expected = ["20 rows, 20 with an id", f"all different, strictly in order{of_times}"]
    assert run_command(name) == (expected, None)


def test_late_rows_of_a_sequence_have_its_next_numbers():
    insert_orders([START + n * SECOND for n in range(10)])
    fill("number")
    insert_orders([START + SECOND])
    fill("number")
    late, third = (row.pk for row in rows("number")[2:4])
    error = run_command("number")[1][0]
    assert "1 of 11 ids are of another time than their row, or out of order" in error
    assert run_command("number", allow_edited_times="10")[0][-2:] == [
        "all different, the others strictly in order",
        f"  {third} comes after {late}, but its id does not",
    ]


def test_numbers_of_the_application_are_in_no_order_with_those_of_the_run():
    field = field_of("number")
    insert_orders([START + n * SECOND for n in range(3)])
    rows("number").filter(pk=rows("number").last().pk).update(number=field.take(1, "default")[0])
    fill("number")
    assert run_command("number") == (
        ["3 rows, 3 with an id", "all different, those of the run strictly in order"],
        None,
    )


MALFORMED = [
    ("hexulid", lambda text: text.lower()),
    ("hexulid", lambda text: text[:-1]),
    ("kuuid", lambda text: text[:-1] + "!"),
    ("snowflake", lambda number: -5),
    *([("ulid", lambda stored: b"")] if connection.vendor == "sqlite" else []),
]


@pytest.mark.parametrize(("name", "spoil"), MALFORMED)
def test_a_value_that_the_field_does_not_store_fails(name, spoil):
    insert_orders([START + i * SECOND for i in range(5)])
    fill(name)
    pk, sql = rows(name)[2].pk, f"SELECT {name} FROM testapp_order WHERE id = %s"
    spoilt = spoil(query(sql, pk)[0][0])
    query(f"UPDATE testapp_order SET {name} = %s WHERE id = %s", spoilt, pk)
    assert query(sql, pk)[0][0] == spoilt or connection.vendor == "mysql"
    lines, (error, _) = run_command(name)
    assert error.partition("no id as the field stores it. ")[2].startswith(
        "If ids are of another source, name that. To give rows new ids, set wrong ones to NULL and "
        "run manage.py backfill_ids "
    )
    assert lines[-1].startswith(f"  {pk} has ")
    eval(lines[-1].partition("; ")[2], {"Order": rows(name).model, "UUID": uuid.UUID})
    fill(name)
    assert run_command(name)[1] is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda ids: ids[::-1],
        lambda ids: random.Random(3).sample(ids, len(ids)),
        lambda ids: [uuid.UUID(int=each.int + (5 * 3600_000 << 80)) for each in ids],
        lambda ids: [uuid.UUID(int=each.int + (1 << 80)) for each in ids],
    ],
    ids=["reversed", "shuffled", "zone", "tick"],
)
def test_systematic_faults_fail_and_are_shown(wrong):
    insert_orders([START + i * 37 * SECOND for i in range(30)])
    fill("uuid7")
    ids = ids_by_key("uuid7")
    give("uuid7", dict(zip(ids, wrong(list(ids.values())), strict=True)))
    lines, (error, _) = run_command("uuid7")
    assert "of 30 ids are of another time" in error
    assert "than 2 %" in error
    shown = [
        line for line in lines if re.search(r"\(created_at 2024-05-17T.* has .*, of 2024-", line)
    ]
    assert len(shown) == 5


def test_another_source_than_that_of_the_run_is_no_reason_for_new_ids():
    insert(Plain, [{"created_at": START, "updated_at": START + HOUR}] * 3)
    fill(PLAIN)
    error, _ = run_command(PLAIN, created_from="updated_at")[1]
    assert error.startswith(f"{PLAIN}: 3 of 3 ids are of another time than their row")
    assert error.endswith(
        ". They are of a run with --created-from created_at: omit the source to compare them with "
        "it; if its field was renamed, delete the BackfillRun"
    )
    assert run_command(PLAIN)[1] is None

    BackfillRun.objects.all().delete()
    assert "of another source" in run_command(PLAIN, created_from="updated_at")[1][0]
    assert run_command(PLAIN, created_from="created_at")[1] is None


@each_kind_with_time
def test_few_edited_times_are_shown_and_many_fail(name):
    insert_orders([START + i * SECOND for i in range(100)])
    fill(name)
    keys = list(rows(name).values_list("pk", flat=True))
    for count, most in ((2, None), (3, 3.0)):
        rows(name).filter(pk__in=keys[:count]).update(created_at=START + 2000 * HOUR)
        lines, error = run_command(name, **({"allow_edited_times": most} if most else {}))
        assert lines[1].startswith(f"{count} ids of another time than the row, or out of")
        assert len([line for line in lines if line.startswith(f"  {keys[0]} (")]) == 1
        assert error is None
    assert "--allow-edited-times=PERCENT" in run_command(name)[1][0]


def test_more_rows_are_shown_on_request():
    insert(Plain, [{"created_at": START + n // 2 * SECOND} for n in range(20)])
    fill(PLAIN)
    ids = list(ids_by_key(PLAIN).items())
    give(PLAIN, {pk: ids[n // 2 * 2][1] for n, (pk, _) in enumerate(ids)})  # in 10 pairs
    rows(PLAIN).filter(pk__lte=ids[7][0]).update(created_at=START + 3 * HOUR)
    few, many = (run_command(PLAIN, verbosity=each)[0] for each in (1, 2))
    counted = [
        [sum(text in line for line in lines) for lines in (few, many)]
        for text in (" is the id of 2 rows", " has ", " comes after ")
    ]
    assert counted == [[5, 10], [5, 8], [5, 6]]
    lines, _ = run_command(PLAIN, verbosity=2, as_json=True)
    assert len(json.loads("".join(lines))["examples"]) == 24


def test_rows_of_one_tick_with_the_same_id_fail():
    insert(Plain, [{"created_at": START}] * 2)
    fill(PLAIN)
    rows(PLAIN).update(public_id=rows(PLAIN)[0].public_id)
    assert verify(find(PLAIN)).duplicates == 1


def test_ids_of_the_application_are_of_nearly_the_same_time():
    insert_orders([START] * 3)
    fill("uuid7")
    scheme = field_of("uuid7").scheme
    insert_orders([START + SECOND] * 2)
    made = sorted(scheme.generate(START + 2 * SECOND) for _ in range(2))
    keys = list(rows("uuid7").values_list("pk", flat=True))[3:]
    give("uuid7", dict(zip(keys, made[::-1], strict=True)))
    assert verify(find("uuid7")) == Verification(rows=5, not_of_run=2)
    BackfillRun.objects.all().delete()
    assert verify(find("uuid7")).failures == []


def test_old_and_new_code_share_ticks():
    """Ids of the run are not compared in order with those of the application."""
    name = "shop.Seconds.ksuid"
    insert(field_of(name).model, [{"created_at": START + 3 * MILLISECOND}] * 2)
    fill(name)
    swap(name, *rows(name).values_list("pk", flat=True))
    assert verify(find(name)).unordered == 1
    BackfillRun.objects.update(ids_since=START)
    assert verify(find(name)).unordered == 0


def test_from_when_on_the_application_generates_ids():
    """From the first row that has an id when the run starts; for good."""
    insert_orders([START + i * SECOND for i in range(6)])
    keys = list(rows("uuid7").values_list("pk", flat=True))
    give("uuid7", {keys[3]: field_of("uuid7").scheme.generate(START + 3 * SECOND)})
    fill("uuid7")
    assert saved_run("uuid7").ids_since == START + 3 * SECOND
    rows("uuid7").filter(pk=keys[1]).update(uuid7=None)
    fill("uuid7")
    assert saved_run("uuid7").ids_since == START + 3 * SECOND


def test_after_now_the_application_generates_ids():
    insert_orders([START, timezone.now() + HOUR])
    rows("uuid7").filter(pk=rows("uuid7").last().pk).update(
        uuid7=field_of("uuid7").scheme.generate()
    )
    fill("uuid7")
    assert saved_run("uuid7").ids_since <= timezone.now()


def test_rows_without_a_possible_time():
    insert_orders([START] * 3)
    fill("snowflake")
    rows("snowflake").filter(pk=rows("snowflake")[0].pk).update(created_at=START.replace(year=2005))
    insert_orders([None, None])
    given = field_of("snowflake").scheme.generate()
    pk = rows("snowflake").filter(created_at=None)[0].pk
    rows("snowflake").filter(pk=pk).update(snowflake=given)
    found = verify(find("snowflake"))
    assert (found.rows, found.missing, found.without_time, found.other_time) == (5, 1, 2, 0)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases store no texts")
@pytest.mark.parametrize("spelt", ["2024-05-17T09:30:02Z", "2024-02-30 09:30:00"])
def test_another_spelling_that_came_later_is_reported(spelt):
    insert_orders([START + i * SECOND for i in range(4)])
    fill("uuid7")
    pk = rows("uuid7")[2].pk
    execute(f"UPDATE testapp_order SET created_at = '{spelt}' WHERE id = {pk}")
    lines, error = run_command("uuid7")
    assert lines[0] == "4 rows, 4 with an id"
    assert any(spelt in line for line in lines)
    assert (error is None) is ("Z" in spelt)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL has such security")
def test_rows_that_the_user_may_not_see_fail():
    insert_orders([START])
    fill("uuid7")
    execute("ALTER TABLE testapp_order ENABLE ROW LEVEL SECURITY")
    with limited_to(*EVERYTHING):
        assert "row-level security" in run_command("uuid7")[1][0]
        (line,) = (each for each in printed().splitlines() if "testapp.Order.uuid7 " in each)
        assert " 0 missing of those that row-level security shows " in line
    assert run_command("uuid7")[1] is None


def test_generated_ids_of_a_model_without_times():
    """Form, uniqueness, and the order of numbered keys."""
    name = "shop.Timeless.public_id"
    scheme = Timeless._meta.get_field("public_id").scheme
    ids = [scheme.generate(START + i * HOUR) for i in range(100)]
    Timeless.objects.bulk_create(Timeless(public_id=value) for value in ids)
    lines, error = run_command(name)
    assert (lines[-1], error) == ("all different", None)
    keys = list(Timeless.objects.order_by("pk").values_list("pk", flat=True))
    for step in (HOUR, 40 * SECOND):
        Timeless.objects.all().update(public_id=None)
        for number, pk in enumerate(keys):
            value = scheme.generate(START - number * step)
            Timeless.objects.filter(pk=pk).update(public_id=value)
        assert "of 100 ids are of another time" in run_command(name)[1][0]


def test_rows_without_an_id_of_a_model_without_times_are_to_be_filled_first():
    insert(Timeless, [{"id": 1}])
    assert run_command("shop.Timeless.public_id")[1] == (
        "shop.Timeless.public_id: rows have no id yet. Fill them first: manage.py backfill_ids "
        "shop.Timeless.public_id",
        1,
    )


def test_an_empty_table_and_nothing_written(django_assert_num_queries):
    assert verify(find("uuid7")) == Verification()
    with on_statement("^(INSERT|UPDATE|DELETE)") as writes:
        verify(find_target(label("uuid7"), {"created_from": "created_at"}, None))
    assert writes == []


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


@pytest.mark.parametrize("model", [Adopted, Plain])
def test_ids_of_other_versions_fail_unless_the_field_accepts_them(model):
    name = f"shop.{model.__name__}.public_id"
    insert(model, [{"created_at": START + i * SECOND} for i in range(6)])
    field, quote = model._meta.get_field("public_id"), connection.ops.quote_name
    for pk in list(model.objects.order_by("created_at").values_list("pk", flat=True))[::2]:
        stored = field.stored(connection).to_db(uuid.uuid4().int, connection)
        query(
            f"UPDATE {quote(model._meta.db_table)} SET {quote(field.column)} = %s "
            f"WHERE {quote(model._meta.pk.column)} = %s",
            stored,
            pk,
        )
    fill(name)
    lines, error = run_command(name)
    if model is Adopted:
        assert lines[1:] == [
            "3 UUIDs of another version, without a time",
            "all different",
        ]
        assert error is None
    else:
        assert "3 rows with a UUID of another version; the field lacks accept_oth" in error[0]
        assert len([line for line in lines if line.endswith("=None)")]) == 3
