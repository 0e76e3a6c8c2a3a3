"""How the rows of an id are looked up: by the index of the column, as the database explains."""

from datetime import UTC, datetime

import pytest
from django.db import connection, models
from django.test.utils import isolate_apps

from django_sortable_ids.fields import ULIDField, UUIDv7Field
from django_sortable_ids.inspecting.rows import columns_of_project, has_index_of_its_own
from tests.combinations import each_with
from tests.lookups.test_indexes import PLACES, TIME_KEYS, plan
from tests.testapp.models import Named, around

AT = datetime(2026, 1, 1, tzinfo=UTC)


def is_looked_up(explained):
    """Whether the plan takes single rows from an index."""
    if connection.vendor == "sqlite":
        return "SEARCH" in explained and "SCAN" not in explained
    if connection.vendor == "postgresql":
        return "Index Cond" in explained and "Seq Scan" not in explained
    if connection.mysql_is_mariadb:
        compact = "".join(explained.split())
        return '"access_type":"const"' in compact or '"access_type":"range"' in compact
    return "index" in explained and "table_scan" not in explained and '"ALL"' not in explained


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("key", "place"),
    [(key, place) for key, place in each_with(TIME_KEYS, PLACES) if place in ("key", "unique")],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_one_row_of_many_by_the_index(key, place):
    model = key if place == "key" else around(key, "Public")
    name = "id" if place == "key" else "public"
    field = model._meta.get_field(name)
    values = field.scheme.generate_many(1_000, AT)
    model.objects.bulk_create(model(**{name: value}) for value in values)
    (column,) = (each for each in columns_of_project() if each.field is field)
    found = column.rows().filter(**{f"{name}__in": [values[500], values[700]]})
    assert is_looked_up(plan(found)), plan(found)
    assert {getattr(row, name) for row in found} == {values[500], values[700]}


@isolate_apps("tests.testapp")
def test_which_columns_have_an_index_of_their_own():
    class Shelf(Named):
        id = UUIDv7Field(primary_key=True)
        unique = ULIDField(unique=True)
        constrained = ULIDField()
        together = ULIDField()
        conditional = ULIDField(null=True)
        tenant = models.IntegerField()
        plain = ULIDField()
        indexed = ULIDField(db_index=True)

        class Meta:
            app_label = "testapp"
            constraints = [
                models.UniqueConstraint(fields=["constrained"], name="a"),
                models.UniqueConstraint(fields=["tenant", "together"], name="b"),
                models.UniqueConstraint(
                    fields=["conditional"], condition=models.Q(tenant=1), name="c"
                ),
            ]

    fields = [each for each in Shelf._meta.fields if isinstance(each, UUIDv7Field | ULIDField)]
    assert [each.name for each in fields if has_index_of_its_own(each)] == [
        "id",
        "unique",
        "constrained",
    ]
