"""Which values are an id, on every surface: what has the id finds its row, any other type is an
error that names it.
"""

import datetime
import uuid
from decimal import Decimal
from numbers import Integral
from operator import attrgetter, ge, gt, le, lt

import pytest
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.functional import SimpleLazyObject, lazystr

from django_sortable_ids.fields import ULIDField, UUIDv7Field
from django_sortable_ids.fields.storage import storage_names
from tests.combinations import in_one_case
from tests.field_classes import CLASSES
from tests.testapp.models import (
    STORED_KEYS,
    KSUIDKey,
    SequenceKey,
    SnowflakeKey,
    Time64MillisecondKey,
    ULIDKey,
    around,
)

pytestmark = pytest.mark.django_db


class Foreign:
    """An id of another library, such as ``uuid_utils.UUID`` and ``ksuid.Ksuid``."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


@Integral.register
class Int64:
    """A number like ``numpy.int64``, which is no ``int``."""

    def __init__(self, number):
        self.number = number

    def __int__(self):
        return self.number

    def __hash__(self):
        return hash(self.number)


class OtherUUID(uuid.UUID):
    """Like ``uuid6.UUID``."""


def spellings(row):
    """Other spellings of the row's id, and values of other types."""
    field, number = row._meta.pk, row._meta.pk.scheme.to_int(row.pk)
    text = str(row.pk)
    kinds = [text, lazystr(text), Foreign(text), Foreign(field.public_text.format(row.pk))]
    kinds += [SimpleLazyObject(lambda: row.pk), SimpleLazyObject(lambda: text)]
    if field.value_type is uuid.UUID:
        return [*kinds, text.upper(), row.pk.hex, number, OtherUUID(int=number)]
    if type(row) is ULIDKey:
        kinds.append(text.lower())
    if field.value_type is int:
        return [*kinds, Int64(number), Decimal(number), Decimal(f"{number}.00")]
    if "uuid" in storage_names(field.scheme):
        return [*kinds, uuid.UUID(int=number)]
    return kinds


def wrong_types(key):
    """Values of types that are no id of the key, also where ``str()`` of them would be one."""
    row = key(name=str(key._meta.pk.scheme.example))
    wrong = [object(), 1.5, float("inf"), Decimal("1.5"), Decimal("NaN"), Decimal("sNaN")]
    wrong += [{}, {"id": 1}, frozenset(), b"", b"\x01" * 16, memoryview(b"\x01" * 16), True, False]
    wrong += [datetime.date(2026, 1, 1), uuid.UUID, len, row, Foreign("nonsense"), 2j]
    wrong += [] if key._meta.pk.value_type is uuid.UUID else [Foreign("x")]
    return wrong


each_key = pytest.mark.parametrize("key", STORED_KEYS, ids=attrgetter("__name__"))


@pytest.fixture
def row(key):
    return key.objects.create(name="a")


@each_key
def test_the_row_is_found(key, row):
    other = key.objects.create(name="b")
    child_class = around(key, "Child")
    child = child_class.objects.create(name="c", parent=row)
    orphan = child_class.objects.create(name="o")
    for value in spellings(row):
        assert key.objects.get(pk=value) == row, value
        assert list(key.objects.exclude(pk=value)) == [other]
        assert list(key.objects.filter(pk__in=[value])) == [row]
        assert list(key.objects.exclude(pk__in=[value, "bad"])) == [other]
        assert key.objects.in_bulk([value]) == {row.pk: row}
        assert row in key.objects.filter(pk__gte=value, pk__lte=value)
        assert row in key.objects.filter(pk__range=(value, value))
        assert key.objects.filter(pk=value).update(name="a") == 1
        for path in ("parent", "parent_id", "parent__id"):
            assert list(child_class.objects.filter(**{path: value})) == [child]
            assert list(child_class.objects.filter(**{f"{path}__in": [value]})) == [child]
            assert list(child_class.objects.exclude(**{path: value})) == [orphan]


@each_key
def test_it_is_saved_as_the_id(key, row):
    child_class = around(key, "Child")
    for value in spellings(row):
        assert key._meta.pk.to_python(value) == row.pk
        row.friends_of.create(name="c", parent_id=value)
        row.friends_of.get(parent=row).friends.remove(value)
        assert child_class.objects.get().parent == row
        child_class.objects.all().delete()
        key.objects.all().delete()
        made = key.objects.create(pk=value)
        assert (made.pk, type(made.pk)) == (row.pk, type(row.pk)) or isinstance(value, uuid.UUID)
        key.objects.all().delete()
        key.objects.bulk_create([key(pk=value)])
        assert key.objects.get().pk == row.pk


@each_key
def test_another_type_is_named(key, row):
    child = around(key, "Child").objects.create(parent=row)
    for value in wrong_types(key):
        name = type(value).__name__
        for lookup, given in (("", value), ("__in", [value]), ("__gte", value)):
            for rows, path in ((key, "pk"), (type(child), "parent__id")):
                with pytest.raises((TypeError, ValueError), match=rf"(?s){name}"):
                    rows.objects.exclude(**{f"{path}{lookup}": given}).exists()
        with pytest.raises(ValidationError, match="is not a valid"):
            key._meta.pk.to_python(value)
        for write in (
            lambda: key.objects.create(pk=value),  # noqa: B023
            lambda: key.objects.bulk_create([key(pk=value)]),  # noqa: B023
            lambda: type(child).objects.create(parent_id=value),  # noqa: B023
        ):
            with pytest.raises((ValidationError, TypeError)), transaction.atomic():
                write()
    assert key.objects.get() == row


@each_key
def test_one_text_is_no_list(key, row):
    """Its characters are no ids, and finding nothing would say nothing."""
    child = around(key, "Child").objects.create(parent=row)
    for rows, path in ((key, "pk"), (type(child), "parent"), (type(child), "parent__id")):
        with pytest.raises(TypeError, match=rf"{key._meta.pk}: expected a list of ids, found '"):
            rows.objects.filter(**{f"{path}__in": str(row.pk)})
        for text in (str(row.pk), "12", "") if path != "parent" else ():
            with pytest.raises(TypeError, match=rf"{key._meta.pk}: expected two ids, found '"):
                rows.objects.filter(**{f"{path}__range": text})


@pytest.mark.parametrize("key", [SnowflakeKey, Time64MillisecondKey])
def test_a_number_that_is_no_id_has_a_place_among_them(key):
    """As in a ``BigIntegerField``."""
    rows = {key.objects.create(), key.objects.create()}
    numbers = [-(10**5000), -(2**70), -1, 0, 12, 2**63 - 1, 2**63, 2**70, 10**5000]
    for number in (*numbers, Int64(-1), Decimal(2**63)):
        for name, is_right in {"gt": gt, "gte": ge, "lt": lt, "lte": le}.items():
            expected = {row for row in rows if is_right(row.pk, int(number))}
            assert set(key.objects.filter(**{f"pk__{name}": number})) == expected
            assert set(key.objects.exclude(**{f"pk__{name}": number})) == rows - expected
        for low, high in ((number, 2**64), (-1, number)):
            expected = {row for row in rows if int(low) <= row.pk <= int(high)}
            assert set(key.objects.filter(pk__range=(low, high))) == expected
        expected = {row for row in rows if row.pk <= int(number)}
        assert set(key.objects.filter(pk__range=(models.F("pk"), number))) == expected


def test_a_number_that_is_no_id_has_a_place_in_a_foreign_key():
    child_class = around(SnowflakeKey, "Child")
    child = child_class.objects.create(parent=SnowflakeKey.objects.create())
    assert child_class.objects.get(parent__gt=-1, parent_id__lt=2**70) == child
    assert not child_class.objects.filter(parent__gte=2**70).exists()


def test_a_ulid_in_the_column_of_a_uuid():
    field = ULIDField(storage="uuid")
    value = field.generate()
    same = uuid.UUID(int=field.scheme.to_int(value))
    for spelling in (same, str(same), same.hex.upper(), OtherUUID(int=same.int)):
        assert field.to_python(spelling) == field.get_prep_value(spelling) == value
        assert ULIDField().read_for_lookup(str(same)) != value


def test_a_uuid_is_the_id_of_no_other_scheme():
    """URLs may have been ``<int:pk>`` or ``<uuid:pk>`` before the key was another one."""
    for key in (SnowflakeKey, KSUIDKey, ULIDKey, Time64MillisecondKey):
        row = key.objects.create()
        for value in (UUIDv7Field().generate(), 1):
            assert list(key.objects.exclude(pk=value)) == [row]
    with pytest.raises(TypeError, match=r"SnowflakeKey\.id: .* found float: 1\.0"):
        SnowflakeKey.objects.filter(pk=1.0)
    with pytest.raises(TypeError, match="to compare times, write id__created_at"):
        SnowflakeKey.objects.filter(pk__gte=datetime.date(2026, 1, 1))
    with pytest.raises(TypeError, match=r"SequenceKey\.id: .*") as without_times:
        SequenceKey.objects.filter(pk__gte=datetime.date(2026, 1, 1))
    assert "created_at" not in str(without_times.value)


# A field is what its value is: other packages know it by its base class and internal type

DJANGOS = {
    uuid.UUID: (models.UUIDField, "UUIDField"),
    int: (models.BigIntegerField, "BigIntegerField"),
    str: (models.CharField, "CharField"),
}


@in_one_case("field_class", CLASSES)
def test_the_class_and_the_internal_type_say_the_type_of_the_value(field_class):
    field = field_class()
    value_type = field.scheme.value_type
    expected, internal_type = DJANGOS[value_type]
    assert isinstance(field, expected)
    assert field.get_internal_type() == internal_type
    others = {django_class for django_class, _ in DJANGOS.values()} - {expected}
    assert not isinstance(field, tuple(others))
