"""A filled column is made NOT NULL and unique while others write, whatever interrupts it."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError, connection
from django.db.migrations.operations import AlterField

from django_sortable_ids.db import transactions
from django_sortable_ids.fields import SnowflakeField
from tests.combinations import each_with
from tests.marks import own_tables
from tests.patience import PATIENCE, wait_until
from tests.primary_keys.stops import Stopped, stopping_at
from tests.support import (
    columns,
    constraints,
    elsewhere,
    execute,
    on_statement,
    open_transaction,
)

from .sources import CREATE_WITH_ROWS, FIELDS, FIVE_ROWS, field, fill

pytestmark = own_tables

CONSTRAIN = 'ConstrainSortableID("order", "public", {}),'
ALTER = 'AlterField("order", "public", {}),'
UPDATE = "UPDATE depot_order SET name = 'y' WHERE name = 'a'"
SQLITE_WRITES = (
    "UPDATE main.sqlite_master",
    "PRAGMA writable_schema",
    "PRAGMA main.schema_version =",
)
postgresql_only = pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL's steps")


def prepare(depot, name="ULIDField", rows="abcde", null="null=True"):
    """A table of five rows, with ids in those that are named."""
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write(f'AddField("order", "public", {field(name, null)}),')
    depot.write("RunPython(fill, RunPython.noop),", fill(rows))
    depot.migrate()


def ready(depot, **prepared):
    """As prepared, with a migration that constrains the column, whose name is returned."""
    prepare(depot, **prepared)
    return depot.write(CONSTRAIN.format(field("ULIDField", "unique=True")), atomic=False)


def schema():
    """The column and the indexes and constraints of the table, by name."""
    return columns("depot_order")["public"], constraints("depot_order")


def is_constrained():
    column, constraints = schema()
    unique = [each for each in constraints.values() if each["columns"] == ["public"]]
    return not column.null_ok and [each["unique"] for each in unique] == [True]


@pytest.mark.parametrize(
    ("made", "null"),
    each_with(
        [*((name, "") for name in FIELDS), ("ULIDField", 'storage="varchar"')],
        ["null=True", "null=True, db_index=True", "null=True, unique=True"],
    ),
)
def test_it_leaves_what_an_alter_field_leaves(depot, made, null):
    name, options = made

    def source(*how):
        return field(name, ", ".join(filter(None, [options, *how])))

    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write(f'AddField("order", "public", {source(null)}),')
    depot.write("RunPython(fill, RunPython.noop),", fill("abcde"))
    depot.migrate()
    before, ids = schema(), depot.column("depot_order", "public")
    depot.write(CONSTRAIN.format(source("unique=True")), atomic=False)
    depot.migrate()
    found = schema()
    assert is_constrained() or 'storage="varchar"' in options
    assert depot.column("depot_order", "public") == ids
    assert found[0].collation == before[0].collation
    depot.migrate(depot.names[2])
    assert schema() == before
    depot.names.pop()
    depot.write(ALTER.format(source("unique=True")))
    depot.migrate()
    expected = schema()
    # On MariaDB and MySQL an AlterField makes a column's collation that of the table.
    assert found[0]._replace(collation=None) == expected[0]._replace(collation=None)
    assert kinds(found[1]) == kinds(expected[1])
    assert found[1] == expected[1] or connection.vendor == "sqlite"


def kinds(constraints):
    """Without their names: on SQLite, an index is what a constraint is elsewhere."""
    keys = ("columns", "unique", "primary_key", "foreign_key")
    return sorted(str([each[key] for key in keys]) for each in constraints.values())


def changes_the_schema(sql):
    is_ours = sql.startswith(("ALTER", "CREATE", "DROP")) and "depot_order" in sql
    return is_ours or sql.startswith(SQLITE_WRITES)


def test_it_goes_on_where_it_was_killed(depot):
    """Before each of its statements, and after the last one."""
    step = ready(depot)
    before = schema()
    last = {"postgresql": 6, "mysql": 1, "sqlite": 7}[connection.vendor]
    for number, after in (*((number, False) for number in range(1, last + 1)), (last, True)):
        with pytest.raises(Stopped), stopping_at(number, changes_the_schema, after=after):
            depot.migrate()
        connection.close()
        if connection.vendor == "sqlite":  # which does it in one transaction
            assert is_constrained() or schema() == before
        depot.migrate()
        assert is_constrained()
        assert [each for each in constraints("depot_order") if "notnull" in each] == []
        depot.migrate(depot.names[-2])
        assert not is_constrained()
    with stopping_at(last + 1, changes_the_schema):
        depot.migrate()
    assert depot.applied()[-1] == step
    assert is_constrained()


@postgresql_only
def test_an_index_that_a_crash_left_invalid_is_built_again(depot):
    prepare(depot)
    order = depot.model("Order")
    kept = order.objects.get(name="b").public
    order.objects.filter(name="b").update(public=order.objects.get(name="a").public)
    depot.write(CONSTRAIN.format(field("ULIDField", "unique=True")), atomic=False)
    created = []

    def note(run, sql, *rest):
        created.extend([sql] if sql.startswith("CREATE UNIQUE INDEX") else [])
        return run(sql, *rest)

    with connection.execute_wrapper(note):
        assert "Its ids are not unique" in depot.refusal()
    with pytest.raises(IntegrityError):
        execute(*created)
    order.objects.filter(name="b").update(public=kept)
    depot.migrate()
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indrelid = 'depot_order'::regclass")
        assert cursor.fetchall() == [(True,), (True,)]
    with pytest.raises(IntegrityError):
        order.objects.filter(name="b").update(public=order.objects.get(name="a").public)


def test_rows_without_an_id_are_refused_with_the_guard_and_without(depot, settings):
    ready(depot, rows="abc")
    before = schema()
    first, second = depot.refusal().splitlines()
    assert first == "Nothing was migrated."
    assert re.match("depot.*2 rows without an id: NOT NULL would fail", second)
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    assert depot.refusal() == (
        "2 rows of depot.Order.public without an id: run `manage.py backfill_ids "
        "depot.Order.public`, and migrate again"
    )
    assert schema() == before


@pytest.mark.skipif(connection.vendor == "sqlite", reason="has one writer")
def test_a_row_without_an_id_that_comes_meanwhile_is_refused_and_nothing_is_left(depot):
    ready(depot, null="null=True, unique=True")
    before = schema()

    def come():
        elsewhere(lambda: execute("INSERT INTO depot_order (name) VALUES ('late')"))

    refused = pytest.raises(CommandError, match=r"^1 row of depot\.")
    if connection.vendor == "mysql":
        # In which an ALTER TABLE turns NULL to zeros.
        execute("SET SESSION sql_mode = ''")
    with on_statement("^ALTER", come, once=True), refused:
        depot.migrate()
    connection.close()
    assert schema() == before
    assert depot.column("depot_order", "public").count(None) == 1


@pytest.mark.skipif(connection.vendor != "mysql", reason="a mode of MariaDB and MySQL")
def test_a_server_that_is_not_strict_does_it_too_and_stays_so(depot):
    ready(depot)
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = ''")
        try:
            depot.migrate()
            cursor.execute("SELECT @@sql_mode, @@lock_wait_timeout > 1")
            assert cursor.fetchone() == ("", 1)
        finally:
            connection.close()
    assert is_constrained()


def test_ids_that_are_not_unique_are_refused_and_nothing_is_left(depot):
    prepare(depot)
    order = depot.model("Order")
    order.objects.filter(name="b").update(public=order.objects.get(name="a").public)
    before = schema()
    depot.write(CONSTRAIN.format(field("ULIDField", "unique=True")), atomic=False)
    with pytest.raises(CommandError, match=r"Its ids are not unique: run `manage\.py backfill_ids"):
        depot.migrate()
    assert schema() == before


@pytest.mark.parametrize(
    "other", ["ULIDField(unique=True, db_comment='x')", "ULIDField(unique=True, db_column='x')"]
)
def test_another_change_is_refused(depot, other):
    prepare(depot)
    depot.write(CONSTRAIN.format(other), atomic=False)
    with pytest.raises(ValueError, match="differ in more than null, unique, db_index and blank"):
        depot.migrate()


def test_the_autodetector_finds_nothing_to_change(depot):
    prepare(depot, "SnowflakeField")
    depot.write(CONSTRAIN.format(field("SnowflakeField", "unique=True")), atomic=False)
    depot.migrate()
    altered = AlterField("order", "public", SnowflakeField(unique=True))
    assert depot.undetected(depot.names[2], altered)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="has one writer")
def test_writers_go_on(depot):
    """Each of their statements gets through."""
    ready(depot)
    order, began, ended = depot.model("Order"), threading.Event(), threading.Event()
    written = []
    limit = {
        "postgresql": f"SET lock_timeout = '{PATIENCE}s'",
        "mysql": f"SET lock_wait_timeout = {PATIENCE}",
    }

    def write():
        execute(limit[connection.vendor])
        while not ended.is_set():
            written.append(order.objects.create(name="w").pk)
            order.objects.filter(pk=written[-1]).update(name="x")
            began.set()

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(elsewhere, write)
        try:
            assert began.wait(PATIENCE)
            depot.migrate()
        finally:
            ended.set()
        writer.result()
    assert order.objects.filter(name="x").count() == len(written)
    assert is_constrained()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="has one writer")
def test_a_transaction_that_is_open_for_long_holds_up_nobody_else(depot, monkeypatch):
    """It lets go of the queue again and again: between two tries a third one writes."""
    ready(depot, null="null=True, unique=True")
    order, tried = depot.model("Order"), []

    with open_transaction(UPDATE) as other:

        def paused(_):
            if not tried:
                tried.append(elsewhere(lambda: order.objects.create(name="w")))
                other.commit()

        monkeypatch.setattr(transactions.time, "sleep", paused)
        depot.migrate()
    assert tried
    assert is_constrained()
    assert order.objects.filter(name="w").count() == 1


@postgresql_only
def test_while_the_index_waits_for_an_open_transaction_others_write(depot):
    ready(depot)
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND query LIKE 'CREATE UNIQUE INDEX%' AND datname = current_database()"
    )

    def write():
        wait_until(lambda: execute(waiting) != [(0,)], "the index waits")
        execute(f"SET lock_timeout = '{PATIENCE}s'")
        try:
            depot.model("Order").objects.create(name="w")
        finally:
            other.commit()

    with open_transaction(UPDATE) as other, ThreadPoolExecutor(1) as pool:
        writer = pool.submit(elsewhere, write)
        depot.migrate()
        writer.result()
    assert is_constrained()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="has one writer")
def test_it_gives_up_in_the_end_and_says_why(depot, monkeypatch):
    ready(depot, null="null=True, unique=True")
    monkeypatch.setattr(transactions, "LOCK_TRIES", 2)
    monkeypatch.setattr(transactions, "LOCK_PAUSE", 0)
    gives_up = pytest.raises(CommandError, match=r"(?s)in 2 tries .* continues where it stopped")
    with open_transaction(UPDATE), gives_up:
        depot.migrate()
    depot.migrate()
    assert is_constrained()


def test_the_name_of_an_index_that_a_renamed_column_has_kept_is_left_to_it(depot):
    ready(depot)
    depot.write('RenameField("order", "public", "code"),')
    depot.write('AddField("order", "public", ULIDField(null=True)),')
    depot.write("RunPython(fill, RunPython.noop),", fill("abcde"))
    depot.write(CONSTRAIN.format(field("ULIDField", "unique=True")), atomic=False)
    depot.migrate()
    unique = [each["columns"] for each in constraints("depot_order").values() if each["unique"]]
    assert sorted(each for each in unique if each != ["id"]) == [["code"], ["public"]]
    depot.migrate(depot.names[2])
    depot.migrate()
