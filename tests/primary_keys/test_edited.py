"""A move that is stopped after its new keys were filled, and whose migration is then edited."""

import pytest
from django.db import connection

from tests.marks import own_tables

from . import small
from .test_left_over import NOTE
from .test_unrecorded import stop_before

pytestmark = own_tables
EDITS = {
    "scheme": ("ULIDField(primary_key=True)", 'created_from="created_at"'),
    "type": ("SnowflakeField(primary_key=True)", 'created_from="created_at"'),
    "version": ("UUIDv6Field(primary_key=True)", 'created_from="created_at"'),
    "storage": ('UUIDv7Field(primary_key=True, storage="char36")', 'created_from="created_at"'),
    "source": (
        "UUIDv7Field(primary_key=True)",
        'created_from="pk", start="2020-01-01T00:00:00Z", end="2021-01-01T00:00:00Z"',
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_keys_are_those_of_the_edited_migration(depot, edit):
    field, source = EDITS[edit]
    small.create(depot)
    small.write_move(depot)
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    small.write_move(depot, field=field, options=f"{source}, old={small.OLD}")
    depot.migrate()
    connection.check_constraints()
    wanted = small.IN_ORDER if edit != "source" else ["e", "d", "c", "b", "a"]
    assert small.names(depot) == wanted
    key = depot.model("Customer")._meta.pk
    assert all(key.scheme.created_at(each.pk) for each in depot.model("Customer").objects.all())
