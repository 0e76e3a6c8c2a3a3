"""Columns that hold UUIDs of other versions and of the field's own."""

import uuid
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.models import CheckConstraint, F, Min, Q

from django_sortable_ids import schemes
from django_sortable_ids.fields import CombV13UUIDField, UUIDv7Field
from django_sortable_ids.functions import CreatedAt
from django_sortable_ids.ids import created_at, public_id
from django_sortable_ids.schemes import InvalidID
from tests.combinations import in_one_case
from tests.lookups.support import utc
from tests.marks import own_tables
from tests.own_tables import own_model, table_with, tables

FIELDS = (UUIDv7Field, CombV13UUIDField)
RANDOM = uuid.UUID("7f4c5fc0-9c1e-4a51-8f0e-6f2d8a1b3c4d")
OTHERS = {
    "uuid4": RANDOM,
    "uuid1": uuid.UUID("75e1f27f-624e-11e1-a11d-ed65de8970f6"),
    "uuid5": uuid.UUID("886313e1-3b8a-5372-9b90-0c9aee199e5d"),
    "nil": uuid.UUID(int=0),
    "max": uuid.UUID(int=2**128 - 1),
}


@pytest.fixture(params=FIELDS, ids=lambda field_class: field_class.__name__)
def adopted(request):
    """A model whose key and whose second id accept every UUID, and its table."""
    field = partial(request.param, accept_other_versions=True)
    model = own_model(
        "Adopted",
        id=field(primary_key=True, prefix="old"),
        other=field(null=True, unique=True, storage="binary"),
        parent=models.ForeignKey("self", models.CASCADE, null=True),
    )
    with tables(model):
        yield model


@own_tables
@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS)
def test_rows_are_written_read_and_found(adopted, value):
    if value.int == 2**128 - 1 and connection.vendor == "mysql":
        value = RANDOM  # MariaDB's uuid has no place for it
    other = uuid.uuid4()
    made = adopted.objects.create(pk=value, other=other)
    child = adopted.objects.create(parent=made)
    for spelling in (value, str(value), value.hex, value.urn, f"old_{value}"):
        found = adopted.objects.get(pk=spelling)
        assert (found.pk, found.other) == (value, other)
    assert adopted.objects.get(pk__in=["bad", str(value)]) == made
    assert adopted.objects.get(parent=value) == adopted.objects.get(parent__id=value) == child
    found.full_clean(exclude=["parent"])
    found.save()
    assert adopted.objects.filter(pk=value, other=other).update(other=None) == 1
    assert adopted.objects.exclude(pk=value).get() == child


@own_tables
def test_new_ids_are_of_the_fields_own_version(adopted):
    strict = schemes.get(adopted._meta.pk.scheme_name)
    for value in (adopted.objects.create().pk, adopted.objects.create().other):
        assert strict.holds(value.int)


@own_tables
def test_they_have_a_public_text_and_no_time(adopted):
    old = adopted.objects.create(pk=RANDOM)
    before = datetime.now(UTC)
    new = adopted.objects.create()
    assert public_id(old) == f"old_{adopted._meta.pk.scheme.format(RANDOM)}"
    assert adopted._meta.pk.parse_public(public_id(old)) == RANDOM
    assert created_at(old) is None
    assert before - timedelta(milliseconds=1) < created_at(new)
    assert created_at(new) < datetime.now(UTC) + timedelta(seconds=1)
    with pytest.raises(InvalidID, match="version"):
        adopted._meta.pk.scheme.created_at(RANDOM)


@in_one_case("field_class", FIELDS)
def test_others_are_refused_unless_accepted(field_class):
    with pytest.raises(ValidationError):
        field_class().to_python(str(RANDOM))
    assert field_class(accept_other_versions=True).to_python(str(RANDOM)) == RANDOM
    assert not schemes.get(field_class.scheme_name).holds(RANDOM.int)


@in_one_case("bad", ["", "7f4c5fc0", b"", f"{RANDOM}0", 2**128, object()])
def test_what_is_no_uuid_is_malformed_all_the_same(bad):
    with pytest.raises(ValidationError):
        UUIDv7Field(accept_other_versions=True).to_python(bad)


# Their times: they have none, wherever they sort

START = utc(2026, 1, 1)
TIMED_FIELDS = [
    field(accept_other_versions=True, storage=storage)
    for field in FIELDS
    for storage in (None, "binary", "char36")
]


@pytest.fixture(params=TIMED_FIELDS, ids=lambda field: f"{field.scheme_name} {field.storage}")
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
