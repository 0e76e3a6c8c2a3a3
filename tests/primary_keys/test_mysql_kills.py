"""MariaDB and MySQL: a process is killed at every statement of a move, and the next one ends it."""

import os
import signal

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from django_sortable_ids.errors import BackfillError
from django_sortable_ids.primary_keys.changes.mysql_tables import Steps, exchange
from tests.marks import own_tables
from tests.support import execute, on_statement

from .mysql import definitions, mysql_only
from .stops import EVERY

pytestmark = [own_tables, mysql_only]

UUID = "UUIDv7Field(primary_key=True)"
SMALL = """\
CreateModel("Customer", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("created_at", DateTimeField()),
    ("invited_by", ForeignKey("depot.Customer", CASCADE, null=True)),
]),
CreateModel("Order", [
    ("id", AutoField(primary_key=True)),
    ("number", PositiveIntegerField()),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
], options={"constraints": [CheckConstraint(condition=Q(number__lt=9), name="few")]}),
CreateModel("Tagged", [
    ("id", AutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("object_id", CharField(max_length=40)),
    ("kind_id", IntegerField()),
]),
CreateModel("Comment", [
    ("id", AutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("object_id", CharField(max_length=40)),
    ("kind_id", IntegerField()),
    ("author", ForeignKey("depot.Customer", CASCADE)),
]),
RunPython(add_rows, RunPython.noop),
"""
SMALL_ROWS = """
from datetime import UTC, datetime, timedelta

def add_rows(apps, schema_editor):
    model = lambda name: apps.get_model("depot", name).objects
    at = datetime(2024, 1, 9, tzinfo=UTC)
    one, two, three = (
        model("Customer").create(name=name, created_at=at - timedelta(n))
        for n, name in enumerate("abc")
    )
    two.invited_by = one
    two.save()
    for customer in (one, two, three, two):
        model("Order").create(customer=customer, number=customer.pk)
        model("Tagged").create(name=customer.name, object_id=customer.pk, kind_id={kind})
        model("Comment").create(
            name=customer.name, object_id=customer.pk, kind_id={kind}, author=three
        )
"""
SMALL_MOVE = """\
MigratePrimaryKey(
    keys=[
        MovedKey(
            "depot.Customer",
            "id",
            {field},
            old=BigIntegerField(null=True, unique=True, editable=False),
            created_from="created_at",
        ),
    ],
    references=[
        ("depot_customer", "invited_by_id", "depot.Customer"),
        ("depot_order", "customer_id", "depot.Customer"),
        ("depot_comment", "author_id", "depot.Customer"),
    ],
    generic=[("depot_comment", "object_id", "kind_id"), ("depot_tagged", "object_id", "kind_id")],
),
"""


@pytest.fixture
def small(depot):
    """Writes the migrations of a small graph, with generic references."""
    kind = ContentType.objects.create(app_label="depot", model="customer")

    def write(field=UUID):
        depot.write(SMALL, SMALL_ROWS.replace("{kind}", str(kind.pk)))
        depot.migrate()
        depot.write(SMALL_MOVE.format(field=field), atomic=False)

    yield write
    kind.delete()


def small_content(depot):
    """All rows, with the names of customers for their keys."""
    customers = list(depot.model("Customer").objects.all())
    name = {each.pk: each.name for each in customers}
    text = {str(each.pk): each.name for each in customers}
    rows = depot.model("Comment").objects.all()
    return {
        "customers": sorted((each.name, name.get(each.invited_by_id)) for each in customers),
        "orders": sorted(
            (each.number, name[each.customer_id]) for each in depot.model("Order").objects.all()
        ),
        "tagged": sorted(
            (each.name, text[each.object_id]) for each in depot.model("Tagged").objects.all()
        ),
        "comments": sorted(
            (each.name, text[each.object_id], name[each.author_id]) for each in rows
        ),
    }


def changes(sql):
    """Whether a statement changes a table, or the note."""
    return sql.startswith(("CREATE", "ALTER", "DROP", "RENAME", "INSERT", "UPDATE", "DELETE"))


class Kill:
    """Kills this process at the n-th statement that changes something, before it or after it."""

    def __init__(self, number, after):
        self.left, self.after = number, after

    def __call__(self, execute, sql, params, many, context):
        self.left -= changes(sql)
        is_last = changes(sql) and self.left == 0
        if is_last and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = execute(sql, params, many, context)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def is_killed(kill, action):
    """Run the action in another process. Whether that was killed before its end."""
    connection.close()
    process = os.fork()
    if not process:
        status = 1
        try:
            with connection.execute_wrapper(kill):
                action()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(process, 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def test_it_continues_after_a_kill_at_each_statement(depot, small):
    small()
    states, original, tables = {}, small_content(depot), definitions()
    for name in ("0002_step", "0001_step"):
        depot.migrate(name)
        states[name] = small_content(depot), definitions()
        assert states[name][0] == original
    assert definitions() == tables
    for number in range(1, 1000, EVERY):
        kills = 0
        for name in ("0002_step", "0001_step"):
            kill = Kill(number, after=number // EVERY % 2)
            kills += is_killed(kill, lambda name=name: depot.migrate(name))
            depot.migrate(name)
            assert (small_content(depot), definitions()) == states[name], (number, name)
        if not kills:
            break
    assert number > 40


def test_a_rename_of_some_tables_is_continued():
    """Servers before MariaDB 10.6 may do that when they are killed."""
    names = [f"depot_{each}" for each in ("table", "copy", "old")]
    execute(*(f"CREATE TABLE {each} (id int)" for each in names[1:]))
    steps = Steps(tables=[names], foreign_keys=[], checks=[], checksums={})
    with connection.schema_editor(atomic=False) as editor:
        exchange(editor, steps)
        exchange(editor, steps)
    found = [name for name in definitions() if name.startswith("depot_")]
    execute("DROP TABLE depot_table")
    assert found == ["depot_table"]


class Died(BaseException):
    pass


def test_rows_that_are_written_after_a_stop_are_not_dropped_with_the_old_tables(depot, small):
    small()
    before = small_content(depot)

    def die():
        raise Died

    with on_statement("^RENAME TABLE", die), pytest.raises(Died):
        depot.migrate()
    execute("UPDATE depot_order SET number = 5 WHERE number = 1")
    refused = pytest.raises(BackfillError, match=r"^depot_order was written since the move stopped")
    for _ in range(2):
        with refused:
            depot.migrate()
    assert execute("SELECT COUNT(*) FROM depot_order WHERE number = 5") == [(1,)]
    execute("UPDATE depot_order SET number = 1 WHERE number = 5")
    depot.migrate()
    assert small_content(depot) == before


def test_what_is_refused_last_names_the_table_and_not_its_copy(depot, small):
    small("SnowflakeField(primary_key=True)")
    before = small_content(depot)

    def collide():
        execute(
            "INSERT INTO depot_comment (name, object_id, kind_id, author_id) "
            "SELECT 'x', new_key, kind_id, author_id FROM depot_comment c "
            "JOIN sortable_ids_next__depot_customer m ON m.old_key = c.object_id "
            "WHERE c.name = 'a'"
        )

    filled = "^INSERT INTO `sortable_ids_next__depot_customer`"
    refused = pytest.raises(BackfillError, match=r"^depot_comment.object_id contains \d+, which is")
    with on_statement(filled, collide, after=True, once=True), refused:
        depot.migrate()
    execute("DELETE FROM depot_comment WHERE name = 'x'")
    assert small_content(depot) == before
    depot.migrate()
    assert small_content(depot) == before
