"""A ``GeneratedField`` whose values are ids: it has their lookups, and nothing to complain of."""

from django.db import models

from django_sortable_ids.fields import UUIDv7Field
from tests.marks import own_tables
from tests.own_tables import own_model, tables


@own_tables
def test_a_generated_copy_of_an_id():
    model = own_model(
        "Copied",
        made=UUIDv7Field(),
        copy=models.GeneratedField(
            expression=models.F("made"), output_field=UUIDv7Field(), db_persist=True
        ),
    )
    assert model.check() == []
    with tables(model):
        row = model.objects.create()
        row.refresh_from_db()
        assert row.copy == row.made
        assert model.objects.get(copy=str(row.made)) == row
        assert model.objects.filter(copy__created_at__year__gte=2026).exists()
