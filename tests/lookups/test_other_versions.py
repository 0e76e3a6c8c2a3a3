"""UUIDs of other versions among those of the field: they have no time, wherever they sort."""

import uuid
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db.models import CheckConstraint, F, Min, Q

from django_sortable_ids.fields import CombV13UUIDField, UUIDv6Field, UUIDv7Field
from django_sortable_ids.functions import CreatedAt
from tests.marks import own_tables
from tests.own_tables import table_with

from .support import utc

START = utc(2026, 1, 1)
FIELDS = [
    field(accept_other_versions=True, storage=storage)
    for field in (UUIDv7Field, UUIDv6Field, CombV13UUIDField)
    for storage in (None, "binary", "char32", "char36")
]


@pytest.fixture(params=FIELDS, ids=lambda field: f"{field.scheme_name} {field.storage}")
def table(request):
    """Ten ids of ten days, and random UUIDs, that variant with the field's own bits included, which
    sort on the same days.
    """
    scheme = request.param.scheme
    own = [scheme.generate(START + timedelta(days=n)) for n in range(10)]
    version_4 = [uuid.UUID(int=value.int & ~(0xF << 76) | 4 << 76) for value in own[:5]]
    other_variant = [uuid.UUID(int=value.int | 0b11 << 62) for value in own[:2]]
    if request.param.storage is None:
        # MariaDB's uuid takes no version above 7 of another variant.
        other_variant = []
    with table_with(request.param) as model:
        rows = [model(made=value, at=scheme.created_at(value)) for value in own]
        others = version_4 + other_variant + [uuid.uuid4() for _ in range(5)]
        model.objects.bulk_create(rows + [model(made=value) for value in others])
        yield model


@own_tables
def test_they_are_as_null(table):
    """As the column is that has no time where the id has none."""
    by_id, by_column = (
        [
            table.objects.filter(**{path: START}),
            table.objects.filter(**{f"{path}__gte": START + timedelta(days=3)}),
            table.objects.filter(**{f"{path}__lt": START + timedelta(days=3)}),
            table.objects.exclude(**{f"{path}__lt": START + timedelta(days=3)}),
            table.objects.filter(**{f"{path}__year": 2026}),
            table.objects.filter(**{f"{path}__day__lte": 4}),
            table.objects.filter(**{f"{path}__range": (START, utc(9999, 1, 1))}),
            table.objects.filter(**{f"{path}__lte": utc(9999, 12, 31)}),
            table.objects.filter(**{f"{path}__isnull": True}),
            table.objects.filter(**{f"{path}__isnull": False}),
            table.objects.filter(**{path: F("at")}),
        ]
        for path in ("made__created_at", "at")
    )
    for found, expected in zip(by_id, by_column, strict=True):
        assert set(found) == set(expected), str(found.query)
    assert table.objects.aggregate(first=Min(CreatedAt("made"))) == {"first": START}
    assert set(table.objects.values_list(CreatedAt("made"), "at")) == set(
        table.objects.values_list("at", "at")
    )


@own_tables
def test_a_constraint_on_the_time_passes_what_has_none(table):
    """As a CHECK passes NULL."""
    recent = CheckConstraint(condition=Q(made__created_at__gte=START), name="recent")
    scheme = table._meta.get_field("made").scheme
    for value in (uuid.UUID("00000000-0000-4000-8000-000000000000"), None, scheme.generate(START)):
        recent.validate(table, table(made=value))
    with pytest.raises(ValidationError):
        recent.validate(table, table(made=scheme.generate(START - timedelta(days=1))))
