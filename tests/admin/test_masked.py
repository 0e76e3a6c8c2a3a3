"""Masked ids in the admin: every widget keeps what was chosen, and takes public texts."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import RequestFactory
from django.urls import path

from django_sortable_ids.ids import public_id
from tests.leaks import leaks
from tests.testapp.models import MaskedKey, MaskedPart

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


class KeyAdmin(admin.ModelAdmin):
    search_fields = ("name",)


site = admin.AdminSite()
site.register(MaskedKey, KeyAdmin)
site.register(MaskedPart)
urlpatterns = [path("admin/", site.urls)]


@pytest.fixture(autouse=True)
def mask_keys(settings):
    settings.SORTABLE_IDS = {"MASK_KEYS": ["f0debc9a785634121032547698badcfe"]}


@pytest.fixture(
    params=[
        {},
        {"radio_fields": {"whole": admin.VERTICAL}},
        {"raw_id_fields": ("whole", "other")},
        {"autocomplete_fields": ("whole",)},
    ],
    ids=["select", "radio", "raw id", "autocomplete"],
)
def part_admin(request):
    options = {"fields": ("name", "whole", "other", "code"), **request.param}
    return type("PartAdmin", (admin.ModelAdmin,), options)(MaskedPart, site)


@pytest.fixture
def part():
    whole = MaskedKey.objects.create(name="whole")
    MaskedKey.objects.create(name="another")
    other = MaskedPart.objects.create(name="other", whole=whole)
    return MaskedPart.objects.create(name="part", whole=whole, other=other)


def test_a_page_that_is_sent_back_changes_nothing(part, part_admin):
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_staff=True, is_active=True)
    form_class = part_admin.get_form(request, part)
    page = form_class(instance=part).as_p()
    code = str(form_class(instance=part)["code"])
    assert public_id(part) in code
    assert not leaks(code, part.code)
    data = {"name": "part"}
    data |= dict(re.findall(r'<input type="text" name="(\w+)" value="([^"]*)"', page))
    data |= dict(re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)"[^>]* checked', page))
    for name, options in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', page, re.DOTALL):
        data[name] = re.findall(r'<option value="([^"]*)" selected', options)[0]
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
