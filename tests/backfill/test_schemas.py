"""Tables in another schema, or in another database of the same server."""

import contextlib
import os
from datetime import timedelta

import pytest
from django.db import (
    connection,
    models,
)

from django_sortable_ids.fields import LexicalSequenceField, SnowflakeField, ULIDField, UUIDv7Field
from tests.combinations import each_with
from tests.sqlite_journal import set_journal_mode
from tests.support import execute

from .support import (
    START,
    command,
    define,
    in_registry,
    insert_into,
    naive,
    refusal,
)

pytestmark = pytest.mark.usefixtures("transactional_db")

# Of this process: all of them test on one server.
PROCESS = f"{connection.settings_dict['NAME']}_{os.environ.get('PYTEST_XDIST_WORKER', '')}"
SCHEMA = f"sales_of_{PROCESS if connection.vendor == 'mysql' else 'test'}"
NAME = "shop.Sale.public_id"
QUOTE = '"' if connection.vendor != "mysql" else "`"
TABLE = f"{QUOTE}{SCHEMA}{QUOTE}.{QUOTE}orders{QUOTE}"
FIELDS = {
    "UUIDv7Field": UUIDv7Field(null=True),
    "ULIDField": ULIDField(null=True, storage="varchar"),
    "SnowflakeField": SnowflakeField(null=True),
    "LexicalSequenceField": LexicalSequenceField(null=True),
}


@pytest.fixture
def schema(tmp_path):
    """A schema; on SQLite an attached file, all of them without a write-ahead log."""
    made, gone = {
        "postgresql": (
            [f"CREATE SCHEMA {SCHEMA}"],
            ["RESET search_path", f"DROP SCHEMA {SCHEMA} CASCADE"],
        ),
        "mysql": ([f"CREATE DATABASE {SCHEMA}"], [f"DROP DATABASE {SCHEMA}"]),
        "sqlite": (
            [f"ATTACH '{tmp_path / 'sales.sqlite3'}' AS {SCHEMA}"],
            [f"DETACH {SCHEMA}"],
        ),
    }[connection.vendor]
    if connection.vendor == "sqlite":
        set_journal_mode("delete")
    execute(*made)
    yield SCHEMA
    execute(*gone)
    if connection.vendor == "sqlite":
        set_journal_mode("wal")


@contextlib.contextmanager
def sales(field, key=None, table=TABLE, index=True):
    """The model of a table there, with seven rows, two of them of one time."""
    with in_registry("Sale"):
        model = define(
            "Sale",
            table,
            **({"code": key} if key else {"id": models.BigAutoField(primary_key=True)}),
            created_at=models.DateTimeField(),
            public_id=field.clone(),
        )
        kinds = ", ".join(
            f"{each.column} {each.db_type(connection)}"
            + (" NOT NULL" if each.name == "created_at" else "")
            + (" COLLATE utf8mb4_bin" if key and each is model._meta.pk and is_mysql() else "")
            + (" PRIMARY KEY" if each.primary_key else "")
            for each in model._meta.fields
        )
        kinds = kinds.replace(" AUTO_INCREMENT", "")
        execute(f"CREATE TABLE {TABLE} ({kinds})")
        if index:
            where = f"{SCHEMA}." if connection.vendor == "sqlite" else ""
            on = "orders" if connection.vendor == "sqlite" else TABLE
            execute(f"CREATE INDEX {where}sales_created ON {on} (created_at)")
        rows = [
            (f"k{n}" if key else n, naive(START - timedelta(hours=n // 2))) for n in range(1, 8)
        ]
        insert_into(TABLE, rows, f"{model._meta.pk.column}, created_at")
        yield model


def is_mysql():
    return connection.vendor == "mysql"


def assert_filled(model):
    ordered = model.objects.order_by("created_at", "pk").values_list("public_id", flat=True)
    assert list(ordered) == list(
        model.objects.order_by("public_id").values_list("public_id", flat=True)
    )
    assert len(set(ordered)) == 7


on_a_server = pytest.mark.skipif(connection.vendor == "sqlite", reason="is refused there")


@on_a_server
@pytest.mark.parametrize(("name", "index"), each_with([*FIELDS], [True, False]))
def test_every_way_of_filling(schema, name, index):
    with sales(FIELDS[name], index=index) as model:
        plan = command(NAME, "--created-from=created_at", "--dry-run")
        assert ("no index begins with created_at" in " ".join(plan)) is not index
        command(NAME, "--created-from=created_at", "--batch-size=3")
        assert_filled(model)
        assert "strictly in order" in " ".join(command(NAME, "--verify"))


@on_a_server
@pytest.mark.parametrize("table", [TABLE, TABLE[1:-1]], ids=["quoted", "open"])
def test_keys_of_text_and_a_name_without_outer_quotes(schema, table):
    key = models.CharField(max_length=20, primary_key=True)
    with sales(FIELDS["SnowflakeField"], key, table) as model:
        command(NAME, "--created-from=created_at", "--batch-size=3")
        assert_filled(model)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="has a search path")
def test_a_table_found_by_the_search_path(schema):
    execute(f"SET search_path = public, {SCHEMA}")
    with sales(FIELDS["UUIDv7Field"], table="orders") as model:
        command(NAME, "--created-from=created_at", "--batch-size=3")
        assert_filled(model)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="attaches files")
def test_a_file_that_sqlite_attached_is_refused(schema):
    with sales(FIELDS["UUIDv7Field"]) as model:
        reason = refusal(NAME, created_from="created_at")
        assert f"{TABLE} is in a file that SQLite attached as {SCHEMA}: make that file" in reason
        assert model.objects.filter(public_id=None).count() == 7


TRIGGER = {
    "postgresql": [
        f"CREATE FUNCTION {SCHEMA}.same() RETURNS trigger LANGUAGE plpgsql "
        f"AS 'BEGIN RETURN NEW; END'",
        f"CREATE TRIGGER noticed BEFORE UPDATE ON {TABLE} FOR EACH ROW "
        f"EXECUTE FUNCTION {SCHEMA}.same()",
    ],
    "mysql": [
        f"CREATE TRIGGER {SCHEMA}.noticed BEFORE UPDATE ON {TABLE} FOR EACH ROW SET @noticed = 1"
    ],
}


@on_a_server
def test_a_trigger_there_is_named(schema):
    with sales(FIELDS["UUIDv7Field"]) as model:
        execute(*TRIGGER[connection.vendor])
        assert "the trigger noticed" in refusal(NAME, "--created-from=created_at")
        command(NAME, "--created-from=created_at", "--allow-triggers")
        assert_filled(model)


# What comes after it, and beside it
