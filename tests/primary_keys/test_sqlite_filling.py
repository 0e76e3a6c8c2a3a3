"""SQLite builds the automatic indexes of a copy from its rows, where the connection allows it."""

import sqlite3

import pytest
from django.db import IntegrityError, connection

from tests.marks import own_tables

from . import small

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="automatic indexes of SQLite"),
]

MORE = """\
CreateModel("Line", [
    ("id", BigAutoField(primary_key=True)),
    ("number", PositiveIntegerField()),
    ("code", CharField(max_length=9, unique=True)),
    ("order", ForeignKey("depot.Order", CASCADE)),
], options={"unique_together": {("order", "number")}}),
RunPython(add_lines, RunPython.noop),
"""
ROWS = """
def add_lines(apps, schema_editor):
    names = "Customer", "Order", "Line"
    Customer, Order, Line = (apps.get_model("depot", each) for each in names)
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for n in range(500):
        at += timedelta(seconds=n * 7919 % 503 - 250)
        customer = Customer.objects.create(name=f"c{n}", created_at=at)
        order = Order.objects.create(name=f"c{n}", customer=customer)
        for number in range(3):
            Line.objects.create(order=order, number=number, code=f"{n * 7919 % 503}.{number}")
"""
MOVE = """\
MigratePrimaryKey(
    keys=[
        MovedKey("depot.Customer", "id", {field}, {old}, created_from="created_at"),
        MovedKey("depot.Order", "id", {field}, {old}, created_from="customer__created_at"),
        MovedKey("depot.Line", "id", {field}, {old}, created_from="order__customer__created_at"),
    ],
    references=[
        ("depot_order", "customer_id", "depot.Customer"),
        ("depot_line", "order_id", "depot.Order"),
    ],
),
"""


def ask(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def defensive():
    """A connection that ignores that its schema shall be writable, as a defensive one does."""

    def allow(action, name, *_):
        ignored = action == sqlite3.SQLITE_PRAGMA and name == "writable_schema"
        return sqlite3.SQLITE_IGNORE if ignored else sqlite3.SQLITE_OK

    connection.ensure_connection()
    connection.connection.set_authorizer(allow)


def content(depot):
    lines = depot.model("Line").objects.order_by("code")
    return list(lines.values_list("code", "number", "order__name", "order__customer__name"))


def schema():
    return ask("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")


@pytest.mark.parametrize("is_defensive", [False, True])
def test_the_copies_are_sound(depot, is_defensive):
    small.create(depot, more="RunPython(add_rows, RunPython.noop),\n" + MORE, after=ROWS)
    before, old = content(depot), dict(depot.model("Line").objects.values_list("code", "pk"))
    cache = ask("PRAGMA cache_size")
    depot.write(MOVE.format(field="UUIDv7Field(primary_key=True)", old=small.OLD), atomic=False)
    if is_defensive:
        defensive()
    executed = []

    def note(execute, sql, params, many, context):
        executed.append(sql)
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(note):
            depot.migrate()
    finally:
        connection.connection.set_authorizer(None)
    is_filled = any(each.startswith('CREATE TABLE "filling__') for each in executed)
    assert is_filled is not is_defensive
    assert ask("PRAGMA integrity_check") == [("ok",)]
    assert ask("PRAGMA cache_size") == cache
    assert ask("PRAGMA writable_schema") == [(0,)]
    assert not [name for _, name, *_ in schema() if "filling__" in name or "moving__" in name]
    assert content(depot) == before
    assert dict(depot.model("Line").objects.values_list("code", "old_id")) == old
    at = "created_at"
    for name, path in (("Order", f"customer__{at}"), ("Line", f"order__customer__{at}")):
        rows = depot.model(name).objects
        in_order = rows.order_by(path, "old_id").values_list("pk", flat=True)
        assert list(in_order) == list(rows.order_by("pk").values_list("pk", flat=True))
    line = depot.model("Line").objects.first()
    for taken in ({"pk": line.pk}, {"old_id": line.old_id}, {"code": line.code}, {"number": 1}):
        values = {"order_id": line.order_id, "number": 9, "code": "new", **taken}
        with pytest.raises(IntegrityError, match="UNIQUE"):
            depot.model("Line").objects.create(**values)
    depot.migrate("0001_step")
    assert ask("PRAGMA integrity_check") == [("ok",)]
    assert content(depot) == before
    assert dict(depot.model("Line").objects.values_list("code", "pk")) == old
