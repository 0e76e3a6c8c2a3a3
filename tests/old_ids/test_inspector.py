"""The inspector looks up ids from before the move of a key, and decodes the present ones."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from django_sortable_ids.inspecting.rows import columns_of_project
from tests.combinations import in_one_case
from tests.inspecting.test_rows import is_looked_up
from tests.lookups.test_indexes import plan

from .models import Device, Parcel, Purchase, Unrelated
from .test_admin import browser  # noqa: F401
from .test_views import OLD, moved

pytestmark = pytest.mark.django_db


def inspected(capsys, text):
    call_command("inspect_id", str(text), "--json")
    (found,) = json.loads(capsys.readouterr().out)["ids"]
    return found


@in_one_case("model", OLD)
def test_an_old_id_is_looked_up_and_the_present_one_is_taken_apart(model, capsys):
    row = moved(model)
    found = inspected(capsys, OLD[model])
    # A row of multi-table inheritance is found as that of its parent, whose id it is.
    (each,) = found["rows"]
    assert (each["pk"], each["is_old"]) == (str(row.pk), True)
    assert found["notes"] == ["A row had this id before its primary key was moved."]
    present = found["candidates"][0]
    assert each["pk"] in present["spellings"].values()
    assert present["fields"] == [each["field"]]


def test_in_a_url(capsys):
    row = moved(Purchase)
    found = inspected(capsys, "https://example.com/orders/17/")
    assert [each["pk"] for each in found["rows"]] == [str(row.pk)]


def test_digits_may_be_both(capsys):
    present = Parcel.objects.create(name="present")
    old = Parcel.objects.create(name="old", old_id=present.pk)
    rows = inspected(capsys, present.pk)["rows"]
    assert {(each["pk"], each["is_old"]) for each in rows} == {
        (str(present.pk), False),
        (str(old.pk), True),
    }


def test_a_uuid_of_version_4_is_that_of_a_row(capsys):
    moved(Device)
    found = inspected(capsys, OLD[Device])
    assert len(found["notes"]) == 1


def test_a_field_of_that_name_which_is_not_unique_is_no_old_key(capsys):
    Unrelated.objects.create(old_id=17)
    assert inspected(capsys, 17)["rows"] == []


def test_one_row_of_many_by_the_index():
    Parcel.objects.bulk_create(Parcel(old_id=number) for number in range(1_000))
    (column,) = (each for each in columns_of_project() if each.field is Parcel._meta.pk)
    found = column.rows().filter(old_id__in=[500, 700])
    assert is_looked_up(plan(found)), plan(found)
    assert {row.old_id for row in found} == {500, 700}


@in_one_case("name", ["hidden", "restricted"])
def test_the_page_shows_rows_that_the_user_may_see(name, browser):  # noqa: F811
    shown = moved(Purchase, "shown")
    Purchase.objects.filter(pk=shown.pk).update(old_id=18)
    moved(Purchase, name)
    client = browser()

    def rows(text):
        answer = client.get(reverse("admin:inspect_id"), {"q": text})
        return [each.row for each in answer.context["found"].rows]

    assert rows("18") == [shown]
    assert rows("17") == []
