"""What can't be filled is refused with the reason, and nothing is written."""

from datetime import UTC, datetime

import pytest
from django.db import connections, models

from django_sortable_ids.models import BackfillRun

from .shop.models import Plain
from .support import (
    START,
    ids,
    insert,
    insert_orders,
    label,
    refusal,
)

pytestmark = pytest.mark.django_db


# What to fill, and from what

LABELS = {
    "Order": ("'Order': expected app.Model.field, such as shop.Order.public_id"),
    "testapp.Nope.id": ("testapp.Nope.id: App 'testapp' doesn't have a 'Nope' model."),
    "shop.Plain.created_at": (
        "shop.Plain has no sortable id 'created_at'; its sortable ids: public_id, other_id"
    ),
    "shop.SortableKey.id": (
        "shop.SortableKey.id is of the primary key, which is never empty. Add a second field, "
        "such as public_id, to give the rows sortable ids; or replace the key and all that refers "
        "to it: `manage.py backfill_ids shop.SortableKey --primary-key`"
    ),
    "shop.Invoice.public_id": (
        "shop.Invoice.public_id is in the table of shop.Document: name that model instead"
    ),
    "shop.Timeless.public_id": (
        "shop.Timeless has no DateTimeField or DateField 'created_at'; it has none. Without one, "
        "name the times of a related row, --created-from order__created_at, old ids that contain "
        "times, --convert-from uuid, a period to spread the rows over, --created-from pk --start "
        "2015-01-01 --end 2024-06-30, or use --created-at now"
    ),
}


@pytest.mark.parametrize(("name", "message"), LABELS.items(), ids=LABELS)
def test_what_is_no_target(name, message):
    modes = ["dry_run", "verify"] if "primary key" not in message else ["dry_run"]
    for options in ({}, *({mode: True} for mode in modes)):
        assert refusal(name, created_from="created_at", **options) == message


SOURCES = {
    None: "say where creation times come from: --created-from, one of created_at, updated_at, day",
    "public_id": (
        "shop.Plain has no DateTimeField or DateField 'public_id'; it has created_at, updated_at, "
        "day. Without one, "
    ),
}


@pytest.mark.parametrize(("source", "message"), SOURCES.items())
def test_where_times_come_from(source, message):
    assert refusal("shop.Plain.public_id", created_from=source).startswith(message)


@pytest.mark.parametrize("size", ["0", "-1", "1.5", "²", "100001", "9" * 20])
def test_the_size_of_a_batch_is_a_whole_number(size):
    assert refusal("shop.Plain.public_id", f"--batch-size={size}") == (
        f"Error: argument --batch-size: {size!r}: expected a whole number of rows from 1 to 100,000"
    )


# Times


def at(*time):
    return datetime(*time, tzinfo=UTC)


TIMES = {
    "NULLs": (
        "number",
        [None, START, None, None],
        "testapp.Order 1 (and 2 other rows) has no created_at. Give it one, or choose --on-null, "
        "or give it an id yourself; nothing was written.",
    ),
    "before a snowflake's epoch": (
        "snowflake",
        [START, at(2010, 11, 4, 1, 42, 54, 656_999), at(2010, 11, 4, 1, 42, 54, 657_000)],
        "testapp.Order 2 is too old: snowflake begins at 2010-11-04 01:42:54.657000+00:00. Correct "
        "its time, or choose --on-out-of-range=skip, or give it an id yourself; nothing was "
        "written.",
    ),
    "the end of the calendar": (
        "uuid7",
        [START, datetime.max.replace(tzinfo=UTC)],
        "testapp.Order 2 is too new: UUIDv7 ends at 9999-12-31 23:59:59.999000+00:00. Correct its "
        "time, or choose --on-out-of-range=skip, or give it an id yourself; nothing was written.",
    ),
}


def insert_numbered(times):
    for number, time in enumerate(times, 1):
        insert_orders([time], id=number)


@pytest.mark.parametrize("dry", [True, False], ids=["dry", "real"])
@pytest.mark.parametrize(("name", "times", "message"), TIMES.values(), ids=TIMES)
def test_a_row_without_a_possible_time_is_named(name, times, message, dry):
    insert_numbered(times)
    assert refusal(label(name), created_from="created_at", dry_run=dry) == message
    assert set(ids(name)) == {None}
    assert not BackfillRun.objects.exists()


def test_a_model_may_read_its_fields_when_a_row_is_loaded(monkeypatch):
    """As models do that look later for what has changed: without some fields, each loads others."""

    def remember(row, *args, **kwargs):
        models.Model.__init__(row, *args, **kwargs)
        row.before = row.created_at, row.updated_at

    monkeypatch.setattr(Plain, "__init__", remember, raising=False)
    insert(Plain, [{"id": 7, "created_at": START}])
    assert refusal("shop.Plain.public_id", created_from="updated_at").startswith(
        "shop.Plain 7 has no updated_at. "
    )


# Tables, in a database of their own


def test_a_database_whose_transactions_only_the_project_ends(monkeypatch):
    monkeypatch.setitem(connections["default"].settings_dict, "AUTOCOMMIT", False)
    insert_orders([START])
    assert refusal(label("uuid7"), "--created-from=created_at").startswith(
        "AUTOCOMMIT of database 'default' is False, so no batch would be committed: "
    )


def test_a_database_without_the_tables_of_the_app(other):
    with connections[other].schema_editor() as editor:
        editor.delete_model(BackfillRun)
    for mode in (("shop.Plain.public_id", "--created-from=created_at"), ("--status",)):
        assert refusal(*mode, database=other) == (
            "the database 'other' has no table django_sortable_ids_backfillrun that its user may "
            "see: run `manage.py migrate django_sortable_ids --database=other`, or use "
            "another database. If there is nothing to migrate, django_sortable_ids.BackfillRun is "
            'not managed, or your DATABASE_ROUTERS have kept it out: see "Several databases" in '
            "the documentation"
        )


def test_a_column_that_is_not_there(other):
    with connections[other].cursor() as cursor:
        cursor.execute("ALTER TABLE shop_plain DROP COLUMN public_id")
    assert refusal("shop.Plain.public_id", created_from="created_at", database=other) == (
        "shop_plain has no column public_id yet: run `manage.py migrate shop --database=other`, "
        "after `manage.py makemigrations shop` if no migration adds it"
    )
