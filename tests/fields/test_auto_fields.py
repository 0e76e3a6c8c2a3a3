"""Keys like AutoField's: None until the insert, in all that Django does with a key."""

import json
from functools import singledispatch

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.forms import modelform_factory, modelformset_factory
from django.test.utils import CaptureQueriesContext, isolate_apps

from django_sortable_ids.fields import (
    KSUIDField,
    SnowflakeAutoField,
    SortableAutoField,
    Time64AutoField,
    ULIDAutoField,
    UUIDv7AutoField,
)
from tests.testapp.models import AUTO_KEYS, Named, around


class KSUIDAutoField(SortableAutoField, KSUIDField):
    """A user's own."""


CLASSES = [UUIDv7AutoField, ULIDAutoField, SnowflakeAutoField, Time64AutoField, KSUIDAutoField]

each_key = pytest.mark.parametrize("key", AUTO_KEYS)
pytestmark = pytest.mark.django_db


def kinds(queries):
    """The first word of each statement."""
    return [each["sql"].split()[0] for each in queries.captured_queries]


@each_key
def test_the_key_is_none_until_the_row_is_inserted_at_once(key):
    row = key(name="a")
    assert row.pk is None
    with CaptureQueriesContext(connection) as queries:
        row.save()
    assert kinds(queries) == ["INSERT"]
    assert type(row.pk) is key._meta.pk.scheme.value_type
    assert key.objects.get(pk=row.pk) == row
    with CaptureQueriesContext(connection) as queries:
        row.save()
    assert kinds(queries) == ["UPDATE"]


@each_key
def test_a_row_with_a_given_key_is_updated_or_inserted(key):
    old = key.objects.create(name="a").pk
    key(pk=old, name="b").save()
    assert list(key.objects.values_list("pk", "name")) == [(old, "b")]
    new = key._meta.pk.generate()
    key(pk=new, name="c").save()
    assert list(key.objects.order_by("pk").values_list("pk", "name")) == [(old, "b"), (new, "c")]


@each_key
@pytest.mark.parametrize("option", ["ignore_conflicts", "update_conflicts"])
def test_after_conflicts_no_row_has_a_key_that_is_in_no_table(key, option):
    options = {}
    if option == "update_conflicts":
        with_target = connection.features.supports_update_conflicts_with_target
        options = {"update_fields": ["name"], "unique_fields": ["pk"] if with_target else None}
    given = key.objects.create(name="old").pk
    rows = [key(pk=given, name="new"), key(name="a"), key(name="b")]
    key.objects.bulk_create(rows, **{option: True}, **options)
    assert [row.pk for row in rows] == [given, None, None]
    assert key.objects.get(pk=given).name == ("old" if option == "ignore_conflicts" else "new")
    assert list(key.objects.exclude(pk=given).order_by("pk").values_list("name", flat=True)) == [
        "a",
        "b",
    ]


@each_key
def test_an_unsaved_row_is_refused_in_a_relation(key):
    child = around(key, "Child")
    parent = key(name="a")
    with pytest.raises(ValueError, match="unsaved related object"):
        child.objects.create(parent=parent)
    parent.save()
    assert child.objects.create(parent=parent).parent_id == parent.pk


@each_key
def test_a_form_has_no_field_for_the_key(key):
    form = modelform_factory(key, fields=["id", "name"])({"id": "x", "name": "a"})
    assert list(form.fields) == ["name"]
    row = form.save()
    assert key.objects.get() == row


@each_key
def test_formsets_change_and_add_rows_and_leave_their_keys(key):
    first = key.objects.create(name="a")
    data = {
        "form-TOTAL_FORMS": 2,
        "form-INITIAL_FORMS": 1,
        "form-0-id": first.pk,
        "form-0-name": "b",
        "form-1-id": "",
        "form-1-name": "c",
    }
    formset = modelformset_factory(key, fields="__all__")(data)
    assert formset.is_valid(), formset.errors
    changed, added = formset.save()
    assert (changed.pk, changed.name) == (first.pk, "b")
    assert {changed.pk, added.pk} == set(key.objects.values_list("pk", flat=True))
    first.refresh_from_db()
    assert first.name == "b"
    assert key.objects.exclude(pk=first.pk).get().name == "c"


@each_key
def test_a_fixture_without_keys(key, tmp_path):
    file = tmp_path / "rows.json"
    child = around(key, "Child")
    label = child._meta.label
    friend = key.objects.create(name="friend")
    fields = {"name": "a", "friends": [str(friend.pk)]}
    file.write_text(json.dumps([{"model": label, "fields": fields}]))
    call_command("loaddata", str(file), verbosity=0)
    loaded = child.objects.get()
    assert list(loaded.friends.all()) == [friend]
    assert loaded.pk > friend.pk


@pytest.mark.parametrize("field_class", CLASSES)
def test_only_for_primary_keys(field_class):
    with isolate_apps("tests.testapp"):

        class Other(Named):
            other = field_class(unique=True)

    (error,) = Other._meta.get_field("other").check()
    assert error.id == "sortable_ids.E014"
    assert "expected primary_key=True" in error.msg


@pytest.mark.parametrize("field_class", CLASSES)
def test_is_no_auto_field_whose_keys_are_counted_integers(field_class):
    kind = singledispatch(lambda field: "another")
    kind.register(models.AutoField)(lambda field: "counted")
    assert kind(field_class(primary_key=True)) == "another"
    assert not issubclass(field_class, models.AutoField)
    assert not isinstance(field_class(primary_key=True), models.AutoField)


@pytest.mark.parametrize("field_class", CLASSES)
def test_deconstructed(field_class):
    field = field_class(primary_key=True, prefix="o")
    _, path, args, kwargs = field.deconstruct()
    assert (args, kwargs) == ([], {"primary_key": True, "prefix": "o"})
    if field_class is not KSUIDAutoField:
        assert path == f"django_sortable_ids.fields.{field_class.__name__}"
    assert field.clone().deconstruct()[1:] == (path, args, kwargs)
