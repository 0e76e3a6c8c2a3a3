"""Migrations that would leave other keys on each node are refused: a move of keys, and a column of
ids from the database that is added to a table with rows."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables
from tests.migrations.sources import CREATE_WITH_ROWS, FIVE_ROWS
from tests.primary_keys import small
from tests.support import execute

pytestmark = [pytest.mark.galera, own_tables]

MESSAGE = (
    "primary keys can't be moved on a Galera cluster (wsrep_on is ON): stop all nodes but one, "
    "start that one with --wsrep-on=OFF, migrate, and start the cluster from it"
)


def tables(nodes):
    """The definitions and numbers of rows on each node."""
    name = connection.settings_dict["NAME"]
    shown = (f"SHOW CREATE TABLE {name}.{table}" for table in ("depot_customer", "depot_order"))
    counted = f"SELECT count(*) FROM {name}.depot_order"
    asked = (*shown, counted)
    return [[node.ask("SET wsrep_sync_wait = 1", each) for each in asked] for node in nodes]


@pytest.mark.parametrize("replicates", ["ON", "OFF"])
def test_a_move_of_keys_is_refused_whatever_the_session_replicates(nodes, depot, replicates):
    small.create(depot)
    before = tables(nodes)
    small.write_move(depot)
    execute(f"SET SESSION wsrep_on = {replicates}")
    try:
        with pytest.raises(CommandError) as error:
            depot.migrate()
    finally:
        execute("SET SESSION wsrep_on = ON")
    assert str(error.value).splitlines() == ["No key was moved.", MESSAGE]
    assert depot.applied() == ["0001_step"]
    assert tables(nodes) == before


# Ids from the database

IMPORT = "from django_sortable_ids.functions import GenerateID"
WITH_DEFAULT = "HexULIDField(null=True, db_default=GenerateID())"


def columns(nodes):
    """The ids of the rows, on each node."""
    name = connection.settings_dict["NAME"]
    read = "SET wsrep_sync_wait = 1", f"SELECT public FROM {name}.depot_order ORDER BY name"
    return [node.ask(*read) for node in nodes]


@pytest.fixture
def rows(depot):
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.migrate()
    depot.write(f'AddField("order", "public", {WITH_DEFAULT}),', IMPORT)
    return depot


def test_ids_from_the_database_for_rows_that_exist_are_refused(nodes, rows):
    with pytest.raises(CommandError, match="each node of the Galera cluster would generate"):
        rows.migrate()
    assert rows.applied() == ["0001_step"]


def test_without_the_guard_the_nodes_differ(nodes, rows, settings):
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    rows.migrate()
    one, two, three = columns(nodes)
    assert not {*one} & {*two}
    assert not {*one} & {*three}


def test_a_default_after_the_column(nodes, depot):
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write('AddField("order", "public", HexULIDField(null=True)),')
    depot.write(
        'RunSQL("UPDATE depot_order SET public = upper(hex(random_bytes(16)))"),'
        f'AlterField("order", "public", {WITH_DEFAULT}),',
        IMPORT,
    )
    depot.migrate()
    one, two, three = columns(nodes)
    assert one == two == three
    assert len({*one}) == 5
