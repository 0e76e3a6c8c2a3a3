"""The field of the migration that ``--write-migration`` writes."""

import pytest
from django.db import models
from django.test.utils import isolate_apps

from django_sortable_ids.fields import SnowflakeField, ULIDField
from django_sortable_ids.migrating.next_migration import NotMigrated, constrained, following

from .support import find

FIELDS = {
    "null": (ULIDField(prefix="ord", null=True, blank=True), {"prefix": "ord", "unique": True}),
    "index": (ULIDField(null=True, db_index=True), {"unique": True}),
    "unique": (SnowflakeField(null=True, unique=True), {"unique": True}),
    "options": (SnowflakeField(null=True, layout="discord"), {"layout": "discord", "unique": True}),
}


def column_of(field, constraints=()):
    class Meta:
        app_label = "shop"

    Meta.constraints = constraints
    body = {"__module__": __name__, "Meta": Meta, "made": models.DateTimeField()}
    with isolate_apps("tests.backfill.shop"):
        model = type("Made", (models.Model,), body | {"public": field})
    return model, model._meta.get_field("public")


@pytest.mark.parametrize(("field", "expected"), FIELDS.values(), ids=FIELDS)
def test_the_field_is_not_null_and_unique_then_and_the_same_in_all_else(field, expected):
    made = constrained(*column_of(field.clone()))
    assert (type(made), made.deconstruct()[3]) == (type(field), expected)


def test_a_constraint_of_the_model_makes_it_unique_as_well():
    unique = models.UniqueConstraint(fields=["public"], name="one")
    made = constrained(*column_of(ULIDField(null=True, db_index=True), [unique]))
    assert made.deconstruct()[3] == {"db_index": True}


def test_a_constraint_on_more_or_on_some_rows_does_not():
    some = models.UniqueConstraint(fields=["public"], name="one", condition=models.Q(public="x"))
    more = models.UniqueConstraint(fields=["public", "made"], name="two")
    made = constrained(*column_of(ULIDField(null=True), [some, more]))
    assert made.deconstruct()[3] == {"unique": True}


@pytest.mark.django_db
def test_an_app_without_migrations_has_no_next_one():
    found = find("shop.Plain.public_id")
    with pytest.raises(NotMigrated, match=r"^the app shop has no migrations, "):
        following(found.model, found.field, "default")
