"""dumpdata and loaddata."""

import json

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.serializers.base import DeserializationError
from django.test import TestCase

from django_sortable_ids.schemes import SequenceExhausted
from django_sortable_ids.testing import id_for_number, integer_fixtures
from tests.combinations import each_with
from tests.testapp.models import (
    AUTO_KEYS,
    KEYS,
    STORED_KEYS,
    SequenceKey,
    ULIDKey,
    UUIDv7Key,
    around,
)

pytestmark = pytest.mark.django_db


KEYS_AND_WAYS = each_with([*STORED_KEYS, *AUTO_KEYS], ["json", "jsonl", "xml"], [False, True])


def make_rows(stored_key):
    """A row of each model around the key, with everything set that it can point to."""
    key, other = stored_key.objects.create(name="a"), stored_key.objects.create(name="b")
    child = around(stored_key, "Child")
    first = child.objects.create(name="c", parent=key, twin=other)
    first.friends.add(key, other)
    child.objects.create(name="d", itself=first)
    public = around(stored_key, "Public")
    target = public.objects.create(name="e")
    public.objects.create(name="f", to=target)
    public.objects.filter(name="f").update(optional=None)


def contents(models):
    found = []
    for model in models:
        names = [field.attname for field in model._meta.concrete_fields]
        found.append(sorted(model.objects.values_list(*names), key=str))
        for relation in model._meta.many_to_many:
            found.append(sorted(model.objects.values_list("pk", relation.name), key=str))
    return found


@pytest.mark.parametrize(("key", "format", "natural"), KEYS_AND_WAYS)
def test_dumped_and_loaded(key, tmp_path, format, natural):
    models = [key, *(around(key, name) for name in ("Child", "Public"))]
    make_rows(key)
    before = contents(models)
    file = tmp_path / f"rows.{format}"
    labels = [model._meta.label for model in models]
    call_command(
        "dumpdata",
        *labels,
        format=format,
        output=str(file),
        use_natural_primary_keys=natural,
        use_natural_foreign_keys=natural,
        verbosity=0,
    )
    for model in reversed(models):
        model.objects.all().delete()
    assert not any(any(rows) for rows in contents(models))
    call_command("loaddata", str(file), verbosity=0)
    after = contents(models)
    if natural:
        # Integer keys are new then.
        for found in (before, after):
            found[-1] = sorted((row[1:] for row in found[-1]), key=str)
    assert after == before
    call_command("loaddata", str(file), verbosity=0)
    assert len(contents(models)[0]) == 2


# Fixtures of a project whose keys were counted numbers.


ROWS = (1, 2, 30, 9_999)


def rows(key):
    """Three keys, and two children that point to them and to each other."""
    child = around(key, "Child")
    yield from ({"model": key._meta.label, "pk": pk, "fields": {"name": str(pk)}} for pk in ROWS)
    for pk, fields in (
        (1, {"parent": 2, "twin": 1, "itself": 2, "friends": [1, "30"]}),
        ("2", {"parent": "2", "twin": 30}),
    ):
        yield {"model": child._meta.label, "pk": pk, "fields": {"name": str(pk), **fields}}


@pytest.fixture
def fixture(tmp_path):
    def write(key):
        file = tmp_path / "rows.json"
        file.write_text(json.dumps(list(rows(key))))
        return str(file)

    return write


@pytest.mark.django_db
@pytest.mark.parametrize("key", STORED_KEYS)
def test_numbers_stand_for_ids(key, fixture):
    file, child = fixture(key), around(key, "Child")
    with integer_fixtures():
        call_command("loaddata", file, verbosity=0)
        assert [key.objects.get(pk=number).name for number in ROWS] == list(map(str, ROWS))
        ordered = list(map(str, ROWS))
        if getattr(key._meta.pk.scheme, "descending", False):
            ordered.reverse()
        assert list(key.objects.order_by("pk").values_list("name", flat=True)) == ordered
        assert child.objects.get(parent=2, twin=30).pk == id_for_number(child, 2)
        call_command("loaddata", file, verbosity=0)
    assert key.objects.count() == len(ROWS)
    ids = [id_for_number(key, number) for number in ROWS]
    assert set(ids) == set(key.objects.values_list("pk", flat=True))
    first = child.objects.get(name="1")
    assert first.parent.name == "2"
    assert first.twin.name == "1"
    assert first.itself.name == "2"
    assert {friend.name for friend in first.friends.all()} == {"1", "30"}
    key.objects.create(name="new")


@pytest.mark.django_db
@pytest.mark.parametrize("key", KEYS)
def test_an_instance_that_is_saved_has_the_id_of_its_row(key):
    with integer_fixtures():
        row = key(pk=2, name="two")
        row.save()
        assert row.pk == id_for_number(key, 2) == key.objects.get(pk=2).pk
        row.refresh_from_db()
    assert row.name == "two"


def test_a_number_that_a_narrow_sequence_lacks():
    with pytest.raises(SequenceExhausted):
        id_for_number(SequenceKey, 36**4)


@pytest.mark.django_db
def test_numbers_are_no_ids_otherwise(fixture):
    file = fixture(UUIDv7Key)
    with integer_fixtures():
        pass
    with pytest.raises(DeserializationError):
        call_command("loaddata", file, verbosity=0)
    assert not UUIDv7Key.objects.filter(pk=1)


@pytest.mark.parametrize("value", [True, -1, 1.5, "1.5", "", "x", "1" * 10, 10**9, None])
def test_what_is_no_such_number(value):
    field = ULIDKey._meta.pk
    with integer_fixtures():
        if value is None:
            assert field.to_python(value) is None
            return
        with pytest.raises(ValidationError):
            field.to_python(value)


@pytest.mark.usefixtures("integer_fixtures")
class LoadedForTheClass(TestCase):
    """The fixtures of a class are loaded before each of its fixtures of pytest."""

    fixtures = ["numbered"]  # tests/testapp/fixtures

    def test_loaded(self):
        assert ULIDKey.objects.get(pk=1).name == "one"
        assert around(ULIDKey, "Child").objects.get().parent_id == id_for_number(ULIDKey, 1)
