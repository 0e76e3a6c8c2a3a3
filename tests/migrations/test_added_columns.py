"""A column of ids that is added to a table, with rows and without."""

import pytest
from django.core.management import CommandError, call_command

from tests.combinations import in_one_case
from tests.marks import own_tables
from tests.support import columns, refusal

from .sources import CREATE, FIELDS, field

pytestmark = own_tables

REFUSAL = (
    "Nothing was migrated.\n"
    "depot.0002_step, depot.order.public: the table has rows, and one id would be copied into all "
    "of them. Delete this migration, or its change, and add the field with null=True (without "
    "primary_key); fill it with `manage.py backfill_ids`, and then alter it to NOT NULL."
)


@pytest.mark.parametrize("name", FIELDS)
def test_a_nullable_unique_column_stays_null_and_fills_with_new_rows(depot, five_rows, name):
    depot.write(f'AddField("order", "public", {field(name, "null=True, unique=True")}),')
    depot.migrate()
    order = depot.model("Order")
    order.objects.get(name="a").save()
    made = [order.objects.create(name=name).public for name in "xy"]
    assert depot.column("depot_order", "public")[:5] == [None] * 5
    assert list(order.objects.filter(name__in="xy").order_by("name").values_list("public")) == [
        (value,) for value in made
    ]
    assert len(set(made)) == 2


@in_one_case("name", FIELDS)
def test_a_column_that_is_not_null_is_refused_where_there_are_rows(depot, five_rows, name):
    depot.write(f'AddField("order", "public", {field(name)}),')
    try:
        assert depot.refusal() == REFUSAL
    finally:
        depot.take_back()
    assert depot.applied() == ["0001_step"]
    assert columns("depot_order").keys() == {"id", "name"}


def test_it_is_refused_next_to_a_migration_of_this_app(depot, five_rows):
    depot.write('AddField("order", "public", ULIDField()),')
    call_command("migrate", "django_sortable_ids", "zero", verbosity=0)
    try:
        assert refusal("migrate", verbosity=0) == REFUSAL
    finally:
        call_command("migrate", "django_sortable_ids", verbosity=0)


@pytest.mark.parametrize("name", FIELDS)
def test_a_column_that_is_not_null_is_fine_on_an_empty_table(depot, name):
    depot.write(CREATE)
    depot.migrate()
    depot.write(f'AddField("order", "public", {field(name, "unique=True")}),')
    depot.migrate()
    order = depot.model("Order")
    made = order.objects.create(name="a")
    assert order.objects.get(public=made.public) == made


def test_a_key_is_refused_where_there_are_rows(depot, five_rows):
    depot.write('RemoveField("line", "id"), AddField("line", "key", ULIDField(primary_key=True)),')
    with pytest.raises(CommandError, match=r"depot\.line\.key: the table has rows"):
        depot.migrate()
