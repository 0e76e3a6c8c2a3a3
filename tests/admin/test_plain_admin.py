"""Ids in a ``ModelAdmin`` that knows nothing of them, as any project has before it changes it."""

import pytest
from django.contrib import admin
from django.urls import path, reverse

from tests.testapp.models import AUTO_KEYS, SequenceKey, SnowflakeKey, ULIDKey, UUIDv7Key, around

pytestmark = pytest.mark.django_db

site = admin.AdminSite("plain")
urlpatterns = [path("admin/", admin.site.urls), path("plain/", site.urls)]

each_kind_of_key = pytest.mark.parametrize("key", [UUIDv7Key, ULIDKey, SnowflakeKey, SequenceKey])


@pytest.fixture
def plain(browser, settings):
    """Registers a model for one test; gives the list that a query finds."""
    settings.ROOT_URLCONF = __name__
    registered = []

    def register(model, **attributes):
        site.register(model, type("PlainAdmin", (admin.ModelAdmin,), attributes))
        registered.append(model)
        settings.ROOT_URLCONF = "tests.urls"  # the pattern list is built again for each model
        urlpatterns[1] = path("plain/", site.urls)
        settings.ROOT_URLCONF = __name__
        return browser

    yield register
    site.unregister(registered)


def route(model, page, *args):
    return reverse(f"plain:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@each_kind_of_key
def test_a_blank_makes_an_id_for_a_new_row_and_keeps_that_of_an_existing_one(plain, key):
    model = around(key, "Public")
    browser = plain(model, fields=["public", "name"])
    # The admin has number inputs for integers, which would refuse the prefix.
    widget = browser.get(route(model, "add")).context["adminform"].form.fields["public"].widget
    assert widget.input_type == "text"
    assert browser.post(route(model, "add"), {"public": "", "name": "a"}).status_code == 302
    row = model.objects.get()
    answer = browser.post(route(model, "change", row.pk), {"public": "", "name": "b"})
    assert answer.status_code == 302, answer.context["errors"]
    assert model.objects.values_list("pk", "name", "public").get() == (row.pk, "b", row.public)


@pytest.mark.parametrize("key", AUTO_KEYS)
def test_rows_inside_of_a_row_keep_their_automatic_keys(plain, key):
    child = around(key, "Child")
    inside = {"model": child, "fk_name": "parent", "fields": ["name"], "extra": 0}
    inline = type("ChildInline", (admin.TabularInline,), inside)
    browser = plain(key, inlines=[inline])
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
