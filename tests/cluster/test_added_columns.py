"""A column of ids from the database, added to a table with rows."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables
from tests.migrations.conftest import depot  # noqa: F401
from tests.migrations.sources import CREATE_WITH_ROWS, FIVE_ROWS

pytestmark = [pytest.mark.galera, own_tables]

IMPORT = "from django_sortable_ids.functions import GenerateID"
WITH_DEFAULT = "HexULIDField(null=True, db_default=GenerateID())"


def columns(nodes):
    """The ids of the rows, on each node."""
    name = connection.settings_dict["NAME"]
    read = "SET wsrep_sync_wait = 1", f"SELECT public FROM {name}.depot_order ORDER BY name"
    return [node.ask(*read) for node in nodes]


@pytest.fixture
def rows(depot):  # noqa: F811
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.migrate()
    depot.write(f'AddField("order", "public", {WITH_DEFAULT}),', IMPORT)
    return depot


def test_it_is_refused(nodes, rows):
    with pytest.raises(CommandError, match="each node of the Galera cluster would generate"):
        rows.migrate()
    assert rows.applied() == ["0001_step"]


def test_without_the_guard_the_nodes_differ(nodes, rows, settings):
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    rows.migrate()
    one, two, three = columns(nodes)
    assert not {*one} & {*two}
    assert not {*one} & {*three}


def test_a_default_after_the_column(nodes, depot):  # noqa: F811
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
