"""Forms: a blank makes an id of a new row, a given one is kept."""

import pytest
from django.db import models
from django.forms import IntegerField, modelform_factory

from django_sortable_ids.fields import HexULIDField
from django_sortable_ids.ids import public_id
from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Basket, Voucher
from tests.testapp.models import EditableKey, EditablePart, around

pytestmark = pytest.mark.django_db

EXAMPLE = "01KDVDNA00PVDPVDPVDPVDPVDM"
KeyForm = modelform_factory(EditableKey, fields=["id", "name"])


@pytest.fixture
def public(key):
    return around(key, "Public")


@pytest.fixture
def form_class(public):
    return modelform_factory(public, fields=["public", "name"])


def spelled(model, value):
    return model._meta.get_field("public").public_text.format(value)


def test_a_blank_makes_an_id(public, form_class):
    for data in ({"public": "", "name": "a"}, {"public": "  ", "name": "a"}, {"name": "a"}):
        form = form_class(data)
        assert form.is_valid(), form.errors
        assert form.save().public is not None
    copy = public(public=public.objects.first().public)
    assert form_class({"public": "", "name": "a"}, instance=copy).save().public is not None
    assert len(set(public.objects.values_list("public", flat=True))) == 4


def test_a_given_id_is_kept(public, form_class):
    value = public.objects.create().public
    public.objects.all().delete()
    scheme = public._meta.get_field("public").scheme
    for text in (scheme.format(value), spelled(public, value), f" {scheme.format(value)} "):
        form = form_class({"public": text, "name": "a"})
        assert form.is_valid(), form.errors
        row = form.save()
        assert row.public == value == public.objects.get().public
        row.delete()


def test_an_id_that_is_taken_is_an_error(public, form_class):
    value = public.objects.create().public
    form = form_class({"public": spelled(public, value), "name": "a"})
    assert list(form.errors) == ["public"]
    assert "already exists" in form.errors["public"][0]


def test_the_form_shows_what_is_stored(public, form_class):
    row = public.objects.create(name="a")
    form = form_class(instance=row)
    assert f'value="{row.public}"' in str(form["public"])
    assert not form_class({"public": str(row.public), "name": "a"}, instance=row).has_changed()
    saved = form_class({"public": str(row.public), "name": "b"}, instance=row).save()
    assert (saved.pk, saved.public, saved.name) == (row.pk, row.public, "b")


def test_a_blank_keeps_what_a_row_has_where_it_may_have_none():
    """``backfill_ids`` gives a row without an id that of its time."""
    Voucher.objects.filter(pk=Voucher.objects.create().pk).update(code=None)
    Voucher.objects.create()
    for row in Voucher.objects.all():
        form = modelform_factory(Voucher, fields=["code"])({"code": ""}, instance=row)
        assert form.is_valid(), form.errors
        assert form.save().code == row.code == Voucher.objects.get(pk=row.pk).code


def test_a_row_keeps_its_key():
    """With another one it would be saved as a second row."""
    row = EditableKey.objects.create(name="a")
    part = EditablePart.objects.create(whole=row)
    form = KeyForm({"id": "", "name": "b"}, instance=row)
    assert form.is_valid(), form.errors
    form.save()
    assert list(EditableKey.objects.values_list("pk", "name")) == [(row.pk, "b")]
    part.refresh_from_db()
    assert part.whole == row


def test_an_editable_key():
    blank = KeyForm({"id": "", "name": "a"})
    assert blank.is_valid(), blank.errors
    assert blank.save().pk
    given = KeyForm({"id": EXAMPLE.lower(), "name": "b"})
    assert given.is_valid(), given.errors
    assert given.save().pk == EXAMPLE
    assert EditableKey.objects.count() == 2
    assert list(KeyForm({"id": EXAMPLE, "name": "c"}).errors) == ["id"]
    malformed = KeyForm({"id": "nonsense", "name": "d"})
    assert malformed.errors["id"][0].startswith("“nonsense” is not a valid ULID")


@in_one_case("scheme", PRODUCTS)
def test_relations_take_and_show_every_spelling(scheme):
    row, other = PRODUCTS[scheme].objects.create(), PRODUCTS[scheme].objects.create()
    one, several = scheme, f"all_{scheme}"
    form_class = modelform_factory(Basket, fields=[one, several])
    for text in (public_id(row), str(row.pk), *([str(row.pk).lower()] if scheme == "ulid" else [])):
        given = {one: text, several: [text, str(other.pk)]}
        form = form_class(given)
        assert form.is_valid(), form.errors
        basket = form.save()
        assert getattr(basket, one) == row
        assert {*getattr(basket, several).all()} == {row, other}
        assigned = Basket(**{f"{one}_id": text}, name="a")
        assigned.full_clean()
        assert assigned.serializable_value(one) == row.pk
        for shown in (form, form_class(initial=given)):
            assert str(shown).count(f'<option value="{row.pk}" selected>') == 2, text


def test_ids_of_the_database_are_required_of_a_form_unless_blank():
    made = HexULIDField(db_default=models.functions.MD5("x"), editable=True)
    assert made.formfield().required
    assert (
        not HexULIDField(db_default=models.functions.MD5("x"), editable=True, blank=True)
        .formfield()
        .required
    )


def test_a_form_field_of_another_class_has_no_arguments_of_texts(public):
    made = public._meta.get_field("public").formfield(form_class=IntegerField)
    assert type(made) is IntegerField
