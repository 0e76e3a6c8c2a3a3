"""Rows as they are read for ids that Python makes: on SQLite without Django's conversions."""

import pytest
from django.db import connection

from django_sortable_ids.backfill.writing import reading
from django_sortable_ids.schemes.generation.clock import MICROSECOND, UNIX_EPOCH

from .support import MICROSECOND as ONE
from .support import SECOND, START, fill, find, insert_orders, is_strict

pytestmark = pytest.mark.django_db
on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a server has real times")

SPELLINGS = {
    "2024-05-17 09:30:00": START,
    "2024-05-17 09:30:00.5": START + SECOND / 2,
    "2024-05-17T09:30:00.000001": START + ONE,
    "2024-05-17 11:30:00+02:00": START,
    "2024-05-17 09:30:00.123456Z": START + 123_456 * ONE,
}


def read():
    target = find("uuid7")
    return target, reading.read(target, target.missing.order_by(*target.order))


def test_rows_are_those_of_the_orm():
    insert_orders([START + i // 3 * SECOND + i % 2 * ONE for i in range(20)])
    target, found = read()
    expected = list(target.missing.order_by("created_at", "pk").values_list("created_at", "pk"))
    for row, (created, pk) in zip(
        (found.first, found.last), expected[:: len(expected) - 1], strict=True
    ):
        assert (target.at(row[0]), row[1]) == (created, pk)
    assert [*map(list, found.keys)] == [target.stored_key(pk) for _, pk in expected]
    assert [UNIX_EPOCH + each * MICROSECOND for each in found.microseconds] == [
        created for created, _ in expected
    ]


def test_no_rows_are_none():
    assert read()[1] is None


@on_sqlite
@pytest.mark.parametrize(("text", "at"), SPELLINGS.items())
def test_sqlite_has_times_in_many_spellings(text, at):
    insert_orders([START])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE testapp_order SET created_at = %s", [text])
    target, found = read()
    assert found.first == target.first(target.missing)
    assert found.microseconds == [(at - UNIX_EPOCH) // MICROSECOND]


@on_sqlite
def test_a_batch_inside_a_tie_begins_where_the_one_before_ended():
    insert_orders([START] * 30 + [START + ONE] * 30)
    plans = []

    def explain(execute, sql, params, many, context):
        if sql.startswith("SELECT CAST") and sql.endswith("LIMIT 10"):
            execute(f"EXPLAIN QUERY PLAN {sql}", params, many, context)
            plans.append(" ".join(step[-1] for step in context["cursor"].fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        assert fill("uuid7", 10).filled == 60
    assert is_strict("uuid7")
    inside = [n for n, plan in enumerate(plans) if "AND rowid>?)" in plan]
    assert inside == [1, 2, 4, 5]
