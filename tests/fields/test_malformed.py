"""Malformed ids: nothing is found, nothing is written, and nothing crashes."""

import contextlib
import uuid
from functools import partial

import pytest
from django.core.exceptions import FieldError, ValidationError
from django.db import transaction
from django.db.models import F, Max, Q, Value
from django.db.models.signals import m2m_changed
from django.http import Http404
from django.shortcuts import get_list_or_404, get_object_or_404

from django_sortable_ids.fields import CombV13UUIDField, SnowflakeField, UUIDv7Field
from tests.combinations import each_with
from tests.testapp.models import (
    KEYS,
    KINDS,
    SnowflakeKey,
    Time64MillisecondKey,
    UUIDv7Key,
    around,
)

pytestmark = pytest.mark.django_db

# No id of any scheme of the tests.
BAD_TEXTS = {
    "empty": "",
    "blank": " ",
    "a word": "nonsense",
    "a sign": "-1",
    "newline": "\n",
    "nul": "\x00",
    "a quote": "' OR 1=1 --",
    "another script": "٣" * 19,
    "full-width digits": "\uff10" * 26,
    "long s": "\u017f" * 32,
    "a surrogate": "\ud800",
    "very long": "9" * 100_000,
    "another model's": "usr_01KDVDNA00PVDPVDPVDPVDPVDM",
    "a path": "../../etc/passwd",
    "percent": "%s%d",
}
_NOT_VERSION_7 = [uuid.UUID(int=0), uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c")]
_NOT_64_BITS = [-1, 2**64, 2**127, 10**1000, 10**5000]
BAD_VALUES = {uuid.UUID: _NOT_VERSION_7 + _NOT_64_BITS, int: _NOT_64_BITS, str: []}
"""By the type of the ids: what has a type that can be an id, and is none."""


def bad_values(key):
    return [*BAD_TEXTS.values(), *BAD_VALUES[key._meta.pk.value_type]]


FEW = [BAD_TEXTS[name] for name in ("empty", "a word", "newline", "nul", "another model's")]
"""For what runs many queries for each value."""


def name_of(model):
    return model.__name__


every_key = pytest.mark.parametrize("key", KEYS, ids=name_of)


# That each scheme knows its own ids is seen where ``every_key`` is.
@pytest.fixture(params=KINDS, ids=name_of)
def key(request):
    return request.param


def itself(value):
    """What Django calls gives the value that can be called."""
    return value


def near(row):
    """What is nearly the id of the row."""
    text = str(row.pk)
    return [text + "\n", f" {text}", f"{text} ", text + text, text[:-1] + "!", f"xyz_{text}"]


def bad_for(row):
    return [*bad_values(type(row)), *near(row)]


def without_place(row):
    """A UUID of another version, as a row may have it, sorts among those of the column."""
    is_uuid = type(row)._meta.pk.scheme.value_type is uuid.UUID
    return [each for each in bad_for(row) if not (is_uuid and isinstance(each, uuid.UUID))]


def few_for(row):
    return [*FEW, *near(row)[:2]]


@contextlib.contextmanager
def refused():
    with pytest.raises(ValidationError, match="is not a valid"), transaction.atomic():
        yield


@pytest.fixture
def row(key):
    return key.objects.create(name="a")


@pytest.fixture
def child(key, row):
    """A child of the row, and its friend."""
    made = around(key, "Child").objects.create(name="c", parent=row, twin=row)
    made.friends.add(row)
    return made


# Reading


def test_exact_finds_nothing(key, row):
    for value in bad_for(row):
        assert not key.objects.filter(pk=value).exists(), value
        assert list(key.objects.filter(id=value)) == []
        assert list(key.objects.exclude(pk=value)) == [row]
        assert list(key.objects.filter(~Q(pk=value))) == [row]
        assert list(key.objects.filter(Q(pk=value) | Q(pk=row.pk))) == [row]
        assert key.objects.filter(pk=value).count() == 0
        assert key.objects.filter(pk=value).first() is None


@every_key
def test_get_does_not_find_it(key, row):
    for value in bad_for(row):
        with pytest.raises(key.DoesNotExist):
            key.objects.get(pk=value)
        with pytest.raises(Http404):
            get_object_or_404(key, pk=value)
        with pytest.raises(Http404):
            get_list_or_404(key, pk=value)


def test_nothing_is_changed(key, row):
    for value in bad_for(row):
        assert key.objects.filter(pk=value).update(name="b") == 0
        assert key.objects.filter(pk=value).delete() == (0, {})
    row.refresh_from_db()
    assert row.name == "a"


def test_a_bad_member_of_a_list_is_dropped(key, row):
    other = key.objects.create(name="b")
    for value in bad_for(row):
        assert list(key.objects.filter(pk__in=[value])) == []
        assert set(key.objects.exclude(pk__in=[value])) == {row, other}
        for mixed in ([value, row.pk], [row.pk, value], (value, row.pk, value)):
            assert list(key.objects.filter(pk__in=mixed)) == [row], value
            assert list(key.objects.exclude(pk__in=mixed)) == [other], value
    everything = [*bad_for(row), row.pk]
    assert list(key.objects.filter(pk__in=everything)) == [row]
    assert list(key.objects.exclude(pk__in=everything)) == [other]
    assert key.objects.in_bulk(everything[-2:]) == {row.pk: row}


def test_a_bad_member_beside_an_expression_is_dropped(key, row):
    around(key, "Child").objects.create(parent=row)
    rows = key.objects.annotate(largest=Max("children__parent"))
    for value in bad_for(row):
        assert list(rows.filter(pk__in=[F("largest"), value])) == [row]
        assert list(rows.filter(children__in=[F("children__pk"), value])) == [row]


def test_foreign_keys(key, row, child):
    model = type(child)
    orphan = model.objects.create(name="o")
    for value in few_for(row):
        for name in ("parent", "parent_id", "parent__id", "parent__pk", "twin"):
            assert list(model.objects.filter(**{name: value})) == [], (name, value)
            assert set(model.objects.exclude(**{name: value})) == {child, orphan}, (name, value)
            for mixed in ([value, row.pk], [row.pk, value]):
                assert list(model.objects.filter(**{f"{name}__in": mixed})) == [child]
                assert list(model.objects.exclude(**{f"{name}__in": mixed})) == [orphan]
        with pytest.raises(model.DoesNotExist):
            model.objects.get(parent=value)


def test_many_to_many(key, row, child):
    other = key.objects.create(name="b")
    model = type(child)
    lonely = model.objects.create(name="l")
    for value in few_for(row):
        assert list(model.objects.filter(friends=value)) == []
        assert set(model.objects.exclude(friends=value)) == {child, lonely}
        assert list(model.objects.filter(friends__in=[value, row.pk])) == [child]
        assert list(model.objects.exclude(friends__in=[value, row.pk])) == [lonely]
        assert list(key.objects.filter(friends_of__in=[value, child.pk])) == [row]
        assert list(key.objects.exclude(friends_of__in=[value, child.pk])) == [other]
        assert list(child.friends.filter(pk=value)) == []


def test_a_foreign_key_to_another_unique_id(key):
    model = around(key, "Public")
    target = model.objects.create(name="target")
    pointing = model.objects.create(name="pointing", to=target)
    for value in [*FEW, f"{target.public}\n", f"other_{target.public}"]:
        assert list(model.objects.filter(to=value)) == []
        assert list(model.objects.filter(to__in=[value, target.public])) == [pointing]
        assert list(model.objects.exclude(to__in=[value, target.public])) == [target]
        assert set(model.objects.exclude(to=value)) == {target, pointing}


def test_order_comparisons_are_refused(key, row):
    lookups = each_with(["gt", "gte", "lt", "lte"], ["pk", "id", "children__id"])
    for value in without_place(row):
        for lookup, path in lookups:
            with pytest.raises(ValidationError, match="is not a valid"):
                key.objects.filter(**{f"{path}__{lookup}": value})


def test_ranges_are_refused(key, row):
    for value in without_place(row):
        for bounds in ((value, row.pk), (row.pk, value), (value, value)):
            with pytest.raises(ValidationError, match="is not a valid"):
                key.objects.filter(pk__range=bounds)


TEXT_LOOKUPS = [
    *("contains", "icontains", "startswith", "istartswith", "endswith", "iendswith"),
    *("iexact", "iregex", "search"),
]


@every_key
def test_text_lookups_find_a_whole_id_and_nothing_else(key):
    row, other = key.objects.create(), key.objects.create()
    child = around(key, "Child").objects.create(parent=row)
    for lookup in TEXT_LOOKUPS:
        for text in (str(row.pk), key._meta.pk.public_text.format(row.pk)):
            assert list(key.objects.filter(**{f"id__{lookup}": text})) == [row]
            assert list(key.objects.exclude(**{f"id__{lookup}": text})) == [other]
            assert list(type(child).objects.filter(**{f"parent__id__{lookup}": text})) == [child]
            for part in (text[:-1], text[1:5], "", "%", "x"):
                assert not key.objects.filter(**{f"id__{lookup}": part}).exists()
        with pytest.raises(FieldError, match="take a text, not an expression"):
            key.objects.filter(**{f"id__{lookup}": F("name")})
    assert set(key.objects.exclude(id__iexact=None)) == {row, other}
    assert not key.objects.filter(id__iexact=None).exists()
    with pytest.raises(ValueError, match="Cannot use None"):
        key.objects.filter(id__icontains=None)


def test_regular_expressions_of_ids_are_refused(key):
    with pytest.raises(FieldError, match=r"^id: regular expressions"):
        key.objects.filter(id__regex="^01")


@every_key
def test_values_of_expressions(key):
    for value in BAD_TEXTS.values():
        with pytest.raises(ValidationError, match="is not a valid"):
            key.objects.filter(pk=Value(value, output_field=key._meta.pk)).exists()


# Writing


@every_key
def test_to_python_refuses(key):
    field = key._meta.pk
    example = field.public_text.format(field.scheme.example)
    for value in bad_values(key):
        with pytest.raises(ValidationError) as refusal:
            field.to_python(value)
        message = refusal.value.messages[0]
        shown = "int" if value == 10**5000 else str(value)[:80]
        assert message.startswith(
            f"“{shown}” is not a valid {field.scheme.title}. Expected a text such as "
        )
        assert message.endswith(f" such as {example}.")
        assert refusal.value.code == "invalid"


@every_key
def test_saving_refuses(key):
    for value in bad_values(key):
        with refused():
            key(pk=value).save()
        with refused():
            key.objects.create(pk=value)
        with refused():
            key.objects.bulk_create([key(pk=value)])
        with refused():
            key.objects.get_or_create(pk=value, name="x")
    assert not key.objects.exists()


def test_updates_refuse(key):
    model = around(key, "Public")
    row = model.objects.create()
    before = row.public
    for value in bad_values(key):
        row.public = value
        with refused():
            row.save()
        with refused():
            row.save(update_fields=["public"])
        with refused():
            model.objects.update(public=value)
        with refused():
            model.objects.bulk_update([row], ["public"])
        defaults = {"public": partial(itself, value)}
        with refused():
            model.objects.update_or_create(pk=row.pk, defaults=defaults)
    row.refresh_from_db()
    assert row.public == before


def test_foreign_keys_refuse(key):
    model = around(key, "Child")
    row = model.objects.create()
    for value in bad_values(key):
        if value == "":
            continue  # Django's foreign keys save it as NULL.
        row.parent_id = value
        with refused():
            row.save()
        with refused():
            model.objects.update(parent_id=value)
        with refused():
            model.objects.update(parent=value)
        with refused():
            model.objects.bulk_update([row], ["parent"])
        with refused():
            model.objects.create(parent_id=value)
        with pytest.raises(ValidationError):
            row.full_clean()


def test_many_to_many_relations_refuse(key, row, child):
    for value in bad_values(key):
        for write in (child.friends.add, lambda value: child.friends.set([value])):
            with pytest.raises(ValidationError) as refusal, transaction.atomic():
                write(value)
            shown = "int" if value == 10**5000 else str(value)[:80]
            assert refusal.value.messages[0].startswith(f"“{shown}” is not a valid")
        child.friends.remove(value)
    assert list(child.friends.all()) == [row]


def test_signals_show_what_was_malformed(child):
    """Receivers of ``m2m_changed`` are told before it is refused."""
    told = []

    def receive(sender, pk_set, **_):
        told.append(str(pk_set))

    m2m_changed.connect(receive, sender=type(child).friends.through)
    try:
        with pytest.raises(ValidationError), transaction.atomic():
            child.friends.add("bad")
    finally:
        m2m_changed.disconnect(receive, sender=type(child).friends.through)
    assert told == ["{<malformed id: bad>}"]


def test_full_clean_refuses(key):
    public = around(key, "Public")
    for value in bad_values(key):
        if value == "":
            continue  # Forms send it for an id that is to be made.
        with pytest.raises(ValidationError) as refusal:
            key(pk=value, name="a").full_clean()
        assert set(refusal.value.message_dict) == {"id"}
        with pytest.raises(ValidationError) as refusal:
            public(public=value, name="a").full_clean()
        assert "public" in refusal.value.message_dict


def test_ids_of_other_schemes():
    """What is an id of one scheme is none of another one of the same type."""
    seven = UUIDv7Field().generate()
    with pytest.raises(ValidationError):
        CombV13UUIDField().to_python(seven)
    with pytest.raises(ValidationError):
        UUIDv7Field().to_python(CombV13UUIDField().generate())
    assert not UUIDv7Key.objects.filter(pk=CombV13UUIDField().generate()).exists()
    assert not Time64MillisecondKey.objects.filter(pk=1).exists()
    assert not SnowflakeKey.objects.filter(pk="0123").exists()
    assert SnowflakeField().to_python("123") == 123
