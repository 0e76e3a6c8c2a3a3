"""Ids that one UPDATE gives to a batch: computed in the database, or made in Python and sent."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.engines import engine_of
from django_sortable_ids.backfill.engines.mysql_statements import time_index
from django_sortable_ids.backfill.sources.columns import Times
from django_sortable_ids.backfill.sources.target import Target
from django_sortable_ids.backfill.writer import Writer
from django_sortable_ids.fields import ULIDField, UUIDv6Field, UUIDv7Field
from django_sortable_ids.models import BackfillRun
from tests.capabilities import label
from tests.functions.columns import COLUMNS
from tests.marks import own_tables
from tests.own_tables import table_with
from tests.support import execute

from .support import (
    MICROSECOND,
    MILLISECOND,
    SECOND,
    ascends,
    in_python,
)

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

IS_SQLITE = connection.vendor == "sqlite"
SOME = COLUMNS[::5] if IS_SQLITE else COLUMNS
"""Where SQLite, which makes no id of a batch itself, treats all columns in one way."""

needs_hints = pytest.mark.skipif("connection.vendor != 'mysql'", reason="others need no hint")


@pytest.fixture(params=SOME, ids=label)
def model(request):
    field = request.param.clone()
    field.null = True
    with table_with(field) as made:
        yield made


def writer_of(target):
    return Writer(target, engine_of(target.using))


def target_of(model):
    return Target(
        model._meta.get_field("made"), Times(model, model._meta.get_field("at"), "default")
    )


def insert(model, times):
    """In an order of keys that is not that of the times."""
    model.objects.bulk_create([model(at=at) for at in [*times[1::2], *times[::2]]])
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
    new = scheme.layout.new
    assert all(new.split(scheme.to_int(value)) for _, value in found)
    sign = -1 if scheme.descending else 1
    return [sign * scheme.to_int(value) for _, value in found]


@own_tables
@pytest.mark.parametrize("made_in", ["the database, if it can", "Python"][IS_SQLITE:])
def test_ids_have_their_times_and_order_whatever_the_batches(model, made_in, monkeypatch):
    if made_in == "Python":
        in_python(monkeypatch)
    insert(model, TIMES)
    before = set()
    for size in (5, 5000):
        ranks = filled(model, size)
        assert ascends(ranks)
        if model._meta.get_field("made").scheme.layout.suffixes > 1 << 60:
            assert before.isdisjoint(ranks)
        before.update(ranks)


@own_tables
def test_who_knows_an_id_and_the_one_before_cannot_name_the_next(model):
    insert(model, [START] * 60)
    ranks = filled(model, 25)
    assert len({other - one for one, other in pairwise(ranks)}) > 30


@own_tables
@pytest.mark.skipif("connection.vendor != 'mysql'", reason="about MariaDB")
def test_python_generates_ids_where_the_database_has_no_random_numbers(monkeypatch):
    monkeypatch.setattr(connection, "mysql_is_mariadb", True)
    monkeypatch.setattr(connection, "mysql_version", (10, 6, 18))
    with table_with(ULIDField(null=True)) as model:
        writer = writer_of(target_of(model))
        assert dict(writer.shown_statements) == {"for each batch": writer.statements.sending_sql}


INDEX = "CREATE INDEX times ON testapp_table (at)"
WITH_MORE = "CREATE INDEX with_more ON testapp_table (at, made)"
DESCENDING = "CREATE INDEX latest ON testapp_table (at DESC)"
PARTITIONS = (
    "ALTER TABLE testapp_table PARTITION BY RANGE (id) (PARTITION first VALUES LESS THAN (20), "
    "PARTITION second VALUES LESS THAN MAXVALUE)"
)
TABLES = {
    "no index": ([], None),
    "the time": ([INDEX], "times"),
    "more than the time": ([WITH_MORE], None),
    "both": ([WITH_MORE, INDEX], "times"),
    "the latest first": ([DESCENDING], None),
    "partitions": ([INDEX, PARTITIONS], None),
    "another key": (
        [INDEX, "ALTER TABLE testapp_table DROP PRIMARY KEY, ADD PRIMARY KEY (id, shop)"],
        None,
    ),
}


@pytest.fixture
def table():
    with table_with(UUIDv7Field(null=True)) as made:
        execute("ALTER TABLE testapp_table ADD COLUMN shop integer NOT NULL DEFAULT 1")
        yield made


@pytest.fixture
def late(monkeypatch):
    """The late rows."""
    rows, batch = [], Writer.late_batch

    def seen(writer, late, cursor):
        rows.extend(late)
        return batch(writer, late, cursor)

    monkeypatch.setattr(Writer, "late_batch", seen)
    return rows


@own_tables
@needs_hints
@pytest.mark.parametrize(("changes", "index"), TABLES.values(), ids=TABLES)
def test_an_index_that_has_the_rows_in_order_is_read_without_sorting(table, changes, index):
    execute(*changes)
    insert(table, TIMES)
    assert time_index(target_of(table), connection) == index
    in_order = index is not None
    statement = next(writer_of(target_of(table)).shown_statements)[1]
    assert ("ORDER BY" in statement) != in_order
    assert ascends(filled(table, 9))


@own_tables
@needs_hints
@pytest.mark.parametrize("size", [2, 5, 9, 50])
@pytest.mark.parametrize("changes", [[], [INDEX]], ids=["sorted", "in order"])
@pytest.mark.parametrize("field", [UUIDv7Field, UUIDv6Field])
def test_no_row_becomes_late_while_nobody_writes(field, changes, size, late):
    with table_with(field(null=True)) as table:
        execute(*changes)
        insert(table, TIMES)
        # User variables get their types with their first values.
        connection.close()
        assert ascends(filled(table, size))
        assert not late
