"""Names of columns are compared as the database compares them, and none is overlooked."""

from datetime import timedelta

import pytest
from django.db import connection, models

from django_sortable_ids.backfill.engines.mysql_statements import time_index
from django_sortable_ids.backfill.sources.base import Given
from django_sortable_ids.backfill.sources.find import of_source
from django_sortable_ids.db.tables import begins_an_index, is_unique, may_be_null
from django_sortable_ids.fields import UUIDv7Field
from tests.support import execute

from .support import KEY, START, TIME, command, define, in_registry, insert_into, naive, refusal

pytestmark = pytest.mark.usefixtures("transactional_db")

NAME = "shop.LegacyCrate.public_id"
is_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="compares exactly")
not_postgresql = pytest.mark.skipif("connection.vendor == 'postgresql'", reason="compares exactly")


def kind():
    if connection.vendor == "mysql":
        return "uuid" if connection.mysql_is_mariadb else "char(32)"
    return "uuid" if connection.vendor == "postgresql" else "char(32)"


@pytest.fixture
def make():
    made = []

    def create(public, more=""):
        """The table as it was written, and a model with small letters."""
        execute(
            f'CREATE TABLE legacy_crate ("ID" {KEY[connection.vendor]}, '
            f'"Sent_At" {TIME[connection.vendor]} NOT NULL, "Public_ID" {public}{more})'
            if connection.vendor != "mysql"
            else f"CREATE TABLE legacy_crate (ID {KEY['mysql']}, Sent_At {TIME['mysql']} NOT NULL, "
            f"Public_ID {public}{more})"
        )
        made.append(1)
        rows = [(n, naive(START + timedelta(seconds=n))) for n in range(5)]
        quoted = ", ".join(map(connection.ops.quote_name, ("ID", "Sent_At")))
        insert_into("legacy_crate", rows, quoted)
        return define(
            "LegacyCrate",
            "legacy_crate",
            managed=False,
            id=models.IntegerField(primary_key=True),
            sent_at=models.DateTimeField(),
            public_id=UUIDv7Field(null=True),
        )

    with in_registry("LegacyCrate"):
        yield create
        if made:
            execute("DROP TABLE legacy_crate")


def line():
    return next(each for each in command() if each.startswith(NAME))


@not_postgresql
def test_columns_in_capital_letters_are_there(make):
    model = make(f"{kind()} NULL")
    assert "5 missing" in line()
    assert "5 rows filled." in command(NAME, "--created-from=sent_at")
    assert command(NAME, "--verify")[0] == "5 rows, 5 with an id"
    assert may_be_null(connection, "legacy_crate", "public_id")
    assert not is_unique(connection, "legacy_crate", "public_id")
    execute(*filter(None, command(NAME, "--verify")[4:]))
    execute("CREATE INDEX crate_sent ON legacy_crate (SENT_AT)")
    assert is_unique(connection, "legacy_crate", "public_id")
    assert is_unique(connection, "legacy_crate", "id")
    assert begins_an_index(connection, "legacy_crate", "sent_at")
    if connection.vendor == "mysql":
        assert not may_be_null(connection, "legacy_crate", "public_id")
        target = of_source(model, model._meta.get_field("public_id"), Given("sent_at"), "default")
        assert time_index(target, connection) == ("crate_sent", True)


@is_postgresql
def test_where_the_database_tells_them_apart_they_are_others(make):
    make(f"{kind()} NULL")
    assert "no column" in line()
    assert refusal(NAME, created_from="sent_at").startswith("legacy_crate has no column id, ")


@pytest.mark.skipif("connection.vendor != 'mysql'", reason="MariaDB and MySQL have such")
def test_an_invisible_column_is_there(make):
    make(f"{kind()} INVISIBLE NULL", ", other int INVISIBLE")
    assert "5 missing" in line()
    assert "5 rows filled." in command(NAME, "--created-from=sent_at")
    assert command(NAME, "--verify")[0] == "5 rows, 5 with an id"


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="names of tables differ elsewhere")
def test_the_name_of_a_table_has_no_case_on_sqlite(make):
    make(f"{kind()} NULL", ", twice AS (ID + ID)")
    with in_registry("OtherCrate"):
        define(
            "OtherCrate",
            "LEGACY_CRATE",
            managed=False,
            sent_at=models.DateTimeField(),
            public_id=UUIDv7Field(null=True),
            twice=models.IntegerField(),
        )
        name = "shop.OtherCrate.public_id"
        assert "5 rows filled." in command(name, "--created-from=sent_at")
        assert command(name, "--verify")[0] == "5 rows, 5 with an id"
