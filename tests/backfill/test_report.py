"""Without arguments: every sortable id of the project, and what to run next."""

import json
import uuid
from io import StringIO
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.management import call_command

from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.management import reporting
from django_sortable_ids.models import BackfillRun
from tests.testapp.models import Order

from .command import printed
from .shop.models import BillLine, OldKey, Plain, Timeless
from .support import START, command, insert, insert_orders, saved_run

pytestmark = pytest.mark.django_db


def lines():
    """The report, with the name of the field before the other cells."""
    cells = [line.split(maxsplit=1) for line in printed().splitlines()]
    return {name: " ".join(rest.split()) for name, rest in cells}


@pytest.fixture
def of_orders(monkeypatch):
    """The report is about orders alone, which takes less time."""
    monkeypatch.setattr(reporting, "apps", SimpleNamespace(get_models=lambda **_: [Order]))


def test_every_field_of_every_table_is_there_once():
    tables = [
        model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy
    ]
    expected = [
        f"{model._meta.label}.{field.name}"
        for model in tables
        for field in model._meta.local_fields
        if isinstance(field, SortableIDField)
    ]
    assert [str(entry.field) for entry in reporting.entries("default")] == expected
    assert "shop.Document.public_id" in expected
    assert not {"shop.Invoice.public_id", "shop.PlainProxy.public_id"} & set(expected)


def test_the_time_that_is_set_once_is_taken_and_one_of_several_is_left_to_a_person(monkeypatch):
    start = "manage.py backfill_ids shop.Plain.public_id --created-from"
    insert(Plain, [{"created_at": START}])

    def suggested():
        reported = json.loads(printed(as_json=True))["fields"]
        of_plain = next(each for each in reported if each["field"] == "shop.Plain.public_id")
        return of_plain["next"], of_plain["choices"]

    assert suggested() == (None, [f"{start} created_at", f"{start} updated_at"])
    with monkeypatch.context() as patch:
        patch.setattr(Plain._meta.get_field("updated_at"), "auto_now", True)
        assert suggested() == (f"{start} created_at", [])
    monkeypatch.setattr(Plain._meta.get_field("created_at"), "auto_now_add", True)
    assert suggested() == (f"{start} created_at", [])
    call_command(*suggested()[0].split()[1:], stdout=StringIO())
    assert Plain.objects.get().public_id


@pytest.mark.parametrize(
    ("key", "source"), [(uuid.uuid1(), "--convert-from id"), (uuid.uuid4(), "--created-from '?'")]
)
def test_a_field_without_times_asks_where_they_are(key, source):
    expected = {
        Timeless: ({"id": 1}, "--created-from '?'"),
        BillLine: ({"amount": 0}, "--created-from day"),
        OldKey: ({"id": key}, source),
    }
    for model, (row, _) in expected.items():
        insert(model, [row])
    rows_of = lines()
    for model, (_, asked) in expected.items():
        name = f"{model._meta.label}.public_id"
        assert rows_of[name].endswith(f" 1 1 missing backfill_ids {name} {asked}")


@pytest.mark.parametrize(
    ("policy", "time", "option"),
    [("on_null", None, "--on-null=now"), ("on_out_of_range", "1900-01-01T00:00Z", "--verify")],
)
def test_skipped_rows_are_no_missing_ones(of_orders, policy, time, option):
    insert_orders([START, time, time])
    created = {"created_from": "created_at"}
    assert "1 row filled." in command("uuid7", **created, **{policy: "skip"})
    next_step = f"backfill_ids testapp.Order.uuid7 {option}"
    assert lines()["testapp.Order.uuid7"] == f"uuid7 3 2 skipped {next_step}"
    insert_orders([START])
    assert lines()["testapp.Order.uuid7"] == "uuid7 4 3 missing backfill_ids testapp.Order.uuid7"


@pytest.mark.usefixtures("of_orders")
def test_a_source_that_is_gone():
    insert_orders([START, None])
    command("uuid7", created_from="created_at", on_null="skip")
    BackfillRun.objects.update(options=saved_run("uuid7").options | {"created_from": "nope"})
    assert lines()["testapp.Order.uuid7"] == "uuid7 2 1 missing backfill_ids testapp.Order.uuid7"


def test_a_project_without_ids(settings):
    settings.INSTALLED_APPS = ["django.contrib.contenttypes", "django_sortable_ids"]
    assert command() == ["No model has a sortable id: add a field of django_sortable_ids.fields."]
