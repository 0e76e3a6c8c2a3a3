"""A move of keys is refused on a cluster, whatever the session says about replication."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables
from tests.migrations.conftest import depot  # noqa: F401
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
def test_it_is_refused(nodes, depot, replicates):  # noqa: F811
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
