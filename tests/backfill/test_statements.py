"""Ids that one UPDATE gives to a batch: computed in the database, or made in Python and sent."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.target import Target
from django_sortable_ids.backfill.writer import Writer
from django_sortable_ids.models import BackfillRun
from tests.capabilities import label
from tests.functions.columns import COLUMNS, UNMADE
from tests.marks import own_tables
from tests.own_tables import table_with

from .shop.models import Plain
from .support import (
    MICROSECOND,
    MILLISECOND,
    SECOND,
    ascends,
    build,
    fill,
    in_python,
    insert_orders,
    statements_of,
)
from .support import insert as insert_rows

START = datetime(2026, 5, 17, 9, 30, tzinfo=UTC)
"""Every scheme holds it."""
TIMES = [
    *[START] * 23,
    *(START + i * MICROSECOND for i in range(5)),
    *(START + i // 4 * MILLISECOND for i in range(4, 12)),
    *[START + 3 * SECOND] * 17,
    START + 400 * SECOND,
]
"""Ties that span batches, some of them beginning and ending inside one."""
TEXTS = [label(field) for field in UNMADE]


@pytest.fixture(params=COLUMNS, ids=label)
def model(request):
    field = request.param.clone()
    field.null = True
    with table_with(field) as made:
        yield made


def target_of(model):
    return Target(model, model._meta.get_field("made"), model._meta.get_field("at"), "default")


def insert(model, times):
    """In an order of keys that is not that of the times."""
    for at in [*times[1::2], *times[::2]]:
        model.objects.bulk_create([model(at=at)])
    model.objects.update(made=None)


def filled(model, size):
    """Ranks that ascend with time, of all rows in order; ids of a second run differ from these."""
    model.objects.update(made=None)
    BackfillRun.objects.all().delete()
    result = run.execute(plan.build(target_of(model), size))
    assert (result.filled, result.remaining) == (model.objects.count(), 0)
    scheme = model._meta.get_field("made").scheme
    found = list(model.objects.order_by("at", "pk").values_list("at", "made"))
    assert [scheme.parts(value)[0] for _, value in found] == [scheme.tick(at) for at, _ in found]
    sign = -1 if scheme.descending else 1
    return [sign * scheme.to_int(value) for _, value in found]


@own_tables
@pytest.mark.parametrize("made_in", ["the database, if it can", "Python"])
def test_ids_have_their_times_and_order_whatever_the_batches(model, made_in, monkeypatch):
    if made_in == "Python":
        in_python(monkeypatch)
    insert(model, TIMES)
    before = set()
    for size in (5, 9, 5000):
        ranks = filled(model, size)
        assert ascends(ranks)
        if model._meta.get_field("made").scheme.layout.tails > 1 << 60:
            assert before.isdisjoint(ranks)
        before.update(ranks)


@own_tables
def test_who_knows_an_id_and_the_one_before_cannot_name_the_next(model):
    insert(model, [START] * 60)
    ranks = filled(model, 25)
    assert len({other - one for one, other in pairwise(ranks)}) > 30


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'mysql'", reason="others need no hint")
def test_a_batch_does_not_read_the_whole_table_and_sorts_nothing():
    insert_orders([START + i * MILLISECOND for i in range(60)])
    planned, plans = build("uuid7", 40), []
    statement = statements_of(planned)[0]

    def explain(execute, sql, params, many, context):
        if sql == statement:
            execute(f"EXPLAIN FORMAT=TRADITIONAL {sql}", params, many, context)
            names = [column[0] for column in context["cursor"].description]
            steps = [dict(zip(names, row, strict=True)) for row in context["cursor"].fetchall()]
            plans.append([(step["table"], step["type"], step["Extra"]) for step in steps])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        run.execute(planned)
    assert len(plans) == 2
    for ((table, kind, extra),) in plans:
        assert (table, kind) == ("t", "range")
        assert "filesort" not in extra


@pytest.mark.skipif("connection.vendor != 'mysql'", reason="others need no hint")
def test_an_index_that_is_switched_off_is_not_hinted_at(transactional_db):
    off = "IGNORED" if connection.mysql_is_mariadb else "INVISIBLE"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX shop_off ON shop_plain (created_at) {off}")
    try:
        insert_rows(Plain, [{"created_at": at} for at in TIMES])
        assert fill("shop.Plain.public_id", 5).filled == len(TIMES)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP INDEX shop_off ON shop_plain")


@own_tables
def test_the_database_computes_what_it_can(model):
    field = model._meta.get_field("made")
    statement = next(Writer(target_of(model)).statements)[1]
    if connection.vendor == "sqlite":
        assert statement.endswith('WHERE "id" = %s AND "made" IS NULL')
    elif label(field) in TEXTS:
        assert ("unnest" if connection.vendor == "postgresql" else "JSON_TABLE") in statement
    else:
        numbers = {"postgresql": "OVER (PARTITION BY tick", "mysql": "@backfill_number + 1"}
        assert numbers[connection.vendor] in statement
