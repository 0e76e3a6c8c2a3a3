"""The admin: the pages of a row by its old id, and the search."""

import pytest
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from django_sortable_ids.inspecting.inspection import columns_of_project, inspect
from tests.combinations import in_one_case

from .models import Parcel, Purchase
from .test_views import OLD, moved

pytestmark = pytest.mark.django_db
INDEX = "/admin/"
SUPER = {"is_superuser": True}


@pytest.fixture
def browser():
    """Makes a client whose user is staff."""

    def make(**values):
        user = User.objects.create(username="ada", is_staff=True, **values)
        client = Client()
        client.force_login(user)
        return client

    return make


def page(model, of, row):
    name = f"admin:old_ids_{model._meta.model_name}_{of}"
    return reverse(name, args=[quote(getattr(row, "pk", row))])


@in_one_case(
    ("model", "of"), [(model, of) for model in OLD for of in ("change", "delete", "history")]
)
def test_a_page_by_the_old_id_redirects(model, of, browser):
    client = browser(is_superuser=True)
    row = moved(model)
    answer = client.get(page(model, of, OLD[model]), {"_changelist_filters": "q=x"})
    assert answer.status_code == 302
    assert answer.url == page(model, of, row) + "?_changelist_filters=q%3Dx"
    answer = client.get(page(model, of, OLD[model]), follow=True)
    assert (answer.status_code, [*answer.context["messages"]]) == (200, [])


def test_a_form_that_was_open_during_the_move_is_saved(browser):
    row = moved(Purchase)
    url = page(Purchase, "change", 17)
    browser(is_superuser=True).post(url, {"name": "changed"}, follow=True)
    row.refresh_from_db()
    assert row.name == "changed"


@in_one_case(("name", "values"), [("hidden", {}), ("restricted", {}), ("guarded", SUPER)])
def test_a_row_that_the_user_may_not_see_is_not_found(name, values, browser):
    moved(Purchase, name)
    client = browser(**values)
    assert client.get(page(Purchase, "change", 17)).url == INDEX
    assert client.get(page(Purchase, "change", 18)).url == INDEX
    assert client.get(page(Purchase, "history", "x")).url == INDEX


@in_one_case("model", OLD)
def test_the_search_finds_an_old_id(model, browser):
    row = moved(model)
    model.objects.create(name="17")
    moved_hidden = model.objects.create(name="hidden")
    client = browser(is_superuser=True)
    url = reverse(f"admin:old_ids_{model._meta.model_name}_changelist")

    def found(text):
        return [*client.get(url, {"q": text}).context["cl"].queryset]

    assert found(f" {OLD[model]} ") == [row]
    assert found(str(row.pk)) == [row]
    assert found("nobody") == found(str(moved_hidden.pk)) == []


# The inspector looks up ids from before the move of a key, and decodes the present ones.


def inspected(text):
    return inspect(str(text), columns_of_project())


@in_one_case("model", OLD)
def test_an_old_id_is_looked_up_and_the_present_one_is_taken_apart(model):
    row = moved(model)
    found = inspected(OLD[model])
    # A row of multi-table inheritance is found as that of its parent, whose id it is.
    (each,) = found.rows
    assert (each.row.pk, each.is_old) == (row.pk, True)
    assert list(found.notes) == ["A row had this id before its primary key was moved."]
    present = found.candidates[0]
    assert str(each.row.pk) in present.spellings.values()
    assert list(present.fields) == [each.column.field]


def test_digits_may_be_both():
    present = Parcel.objects.create(name="present")
    old = Parcel.objects.create(name="old", old_id=present.pk)
    rows = inspected(present.pk).rows
    assert {(each.row, each.is_old) for each in rows} == {(present, False), (old, True)}


@in_one_case("name", ["hidden", "restricted"])
def test_the_page_shows_rows_that_the_user_may_see(name, browser):
    shown = moved(Purchase, "shown")
    Purchase.objects.filter(pk=shown.pk).update(old_id=18)
    moved(Purchase, name)
    client = browser()

    def rows(text):
        answer = client.get(reverse("admin:inspect_id"), {"q": text})
        return [each.row for each in answer.context["found"].rows]

    assert rows("18") == [shown]
    assert rows("17") == []
