"""Ids in a ``ModelAdmin`` that knows nothing of them, as any project has before it changes it."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import RequestFactory
from django.urls import path, reverse

from django_sortable_ids.ids import public_id
from tests.leaks import leaks
from tests.testapp.models import (
    AUTO_KEYS,
    MaskedKey,
    MaskedPart,
    SequenceKey,
    SnowflakeKey,
    ULIDKey,
    UUIDv7Key,
    around,
)

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

KINDS = [UUIDv7Key, ULIDKey, SnowflakeKey, SequenceKey]
site = admin.AdminSite("plain")
for kind in KINDS:
    site.register(around(kind, "Public"), fields=["public", "name"])
for kind in AUTO_KEYS:
    inside = {"model": around(kind, "Child"), "fk_name": "parent", "fields": ["name"], "extra": 0}
    site.register(kind, inlines=[type("ChildInline", (admin.TabularInline,), inside)])
site.register(MaskedKey, search_fields=["name"])
site.register(MaskedPart)
urlpatterns = [path("admin/", admin.site.urls), path("plain/", site.urls)]


def route(model, page, *args):
    return reverse(f"plain:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.mark.parametrize("key", KINDS)
def test_a_blank_makes_an_id_for_a_new_row_and_keeps_that_of_an_existing_one(browser, key):
    model = around(key, "Public")
    # The admin has number inputs for integers, which would refuse the prefix.
    widget = browser.get(route(model, "add")).context["adminform"].form.fields["public"].widget
    assert widget.input_type == "text"
    assert browser.post(route(model, "add"), {"public": "", "name": "a"}).status_code == 302
    row = model.objects.get()
    answer = browser.post(route(model, "change", row.pk), {"public": "", "name": "b"})
    assert answer.status_code == 302, answer.context["errors"]
    assert model.objects.values_list("pk", "name", "public").get() == (row.pk, "b", row.public)


@pytest.mark.parametrize("key", AUTO_KEYS)
def test_rows_inside_of_a_row_keep_their_automatic_keys(browser, key):
    child = around(key, "Child")
    row = key.objects.create(name="a")
    first = child.objects.create(name="b", parent=row)
    page = browser.get(route(key, "change", row.pk)).content.decode()
    assert f'name="children-0-id" value="{first.pk}"' in page
    given = {
        "name": "a",
        "children-TOTAL_FORMS": 2,
        "children-INITIAL_FORMS": 1,
        "children-0-id": first.pk,
        "children-0-parent": row.pk,
        "children-0-name": "changed",
        "children-1-id": "",
        "children-1-parent": row.pk,
        "children-1-name": "new",
    }
    assert browser.post(route(key, "change", row.pk), given).status_code == 302
    assert dict(child.objects.values_list("name", "parent")) == {"changed": row.pk, "new": row.pk}
    assert child.objects.get(name="changed") == first


WIDGETS = {
    "select": {},
    "radio": {"radio_fields": {"whole": admin.VERTICAL}},
    "raw id": {"raw_id_fields": ("whole", "other")},
    "autocomplete": {"autocomplete_fields": ("whole",)},
}


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_page_with_masked_ids_that_is_sent_back_changes_nothing(part, widget):
    """And takes public texts."""
    options = {"fields": ("name", "whole", "other", "code"), **WIDGETS[widget]}
    MaskedKey.objects.create(name="another")
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_staff=True, is_active=True)
    part_admin = type("PartAdmin", (admin.ModelAdmin,), options)(MaskedPart, site)
    form_class = part_admin.get_form(request, part)
    page = form_class(instance=part).as_p()
    code = str(form_class(instance=part)["code"])
    assert public_id(part) in code
    assert not leaks(code, part.code)
    data = {"name": "part"}
    data |= dict(re.findall(r'<input type="text" name="(\w+)" value="([^"]*)"', page))
    data |= dict(re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)"[^>]* checked', page))
    for name, choices in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', page, re.DOTALL):
        data[name] = re.findall(r'<option value="([^"]*)" selected', choices)[0]
    assert {"name", "whole", "other", "code"} <= set(data)
    form = form_class(data, instance=MaskedPart.objects.get(pk=part.pk))
    assert form.is_valid(), form.errors
    assert not form.has_changed()
    saved = form.save()
    assert (saved.whole, saved.other, saved.code) == (part.whole, part.other, part.code)
    texts = {"whole": public_id(part.whole), "other": public_id(part.other)}
    typed = form_class(data | texts, instance=part)
    assert typed.is_valid(), typed.errors
    assert typed.save().whole == part.whole
