"""Ids that the database makes."""

import pytest
from django.db import connection, models
from django.db.models.expressions import RawSQL
from django.test.utils import isolate_apps

from django_sortable_ids.fields import HexULIDField
from tests.fields.refused import assert_refused
from tests.marks import own_tables
from tests.own_tables import Own, tables

# Any 128 bits are a hex ULID.
RANDOM = {
    "sqlite": "upper(hex(randomblob(16)))",
    "postgresql": "upper(md5(random()::text))",
    "mysql": "(upper(hex(random_bytes(16))))",
}


def database_made(**arguments):
    return HexULIDField(db_default=RawSQL(RANDOM[connection.vendor], []), **arguments)


@pytest.fixture(params=["key", "unique"])
def model(request):
    with isolate_apps("tests.testapp"):

        class Made(Own):
            public = database_made(**{request.param.replace("key", "primary_key"): True})
            name = models.CharField(max_length=9)

        with tables(Made):
            yield Made


@own_tables
def test_the_database_makes_them(model):
    rows = [model.objects.create(name=name) for name in "ab"]
    model.objects.bulk_create([model(name="c"), model(name="d")])
    stored = dict(model.objects.values_list("name", "public"))
    assert len(set(stored.values())) == 4
    for row in rows:
        # MySQL doesn't return what it made.
        if connection.features.can_return_columns_from_insert:
            assert row.public == stored[row.name]
        assert stored[row.name] == model.objects.get(name=row.name).public


@own_tables
def test_one_that_is_given_is_kept(model):
    given = HexULIDField().generate()
    assert model.objects.create(name="a", public=given.upper()).public == given
    assert model.objects.get().public == given


@pytest.mark.parametrize("constant", ["019B76DAA800B6DB6DB6DB6DB6DB6DB4", None, 1])
@pytest.mark.parametrize("wrap", [lambda value: value, models.Value])
def test_one_value_for_every_row_is_refused(constant, wrap):
    field = HexULIDField(db_default=wrap(constant))
    assert_refused(field, "E015", "is one value for every row")
