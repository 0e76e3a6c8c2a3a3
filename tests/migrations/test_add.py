"""A field that is added with an id for every row, in one migration."""

import contextlib

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.db.models import CharField

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.find import target_of
from django_sortable_ids.fields import ULIDField
from django_sortable_ids.functions import GenerateID
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.operations import AddSortableID
from tests.marks import own_tables
from tests.primary_keys.stops import Stopped, stopping_at
from tests.support import execute, trigger

from .sources import FIELDS, field
from .test_constrain import changes_the_schema, is_constrained

pytestmark = own_tables

CREATE = """\
CreateModel("Order", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("made", DateTimeField()),
]),
"""
ROWS = """
from datetime import UTC, datetime, timedelta

def add_rows(apps, schema_editor):
    Order = apps.get_model("depot", "Order")
    for n, name in enumerate("edcba"):
        Order.objects.create(name=name, made=datetime(2024, 1, 1 + n // 2, tzinfo=UTC))
"""
ADD = 'AddSortableID("order", "public", {}, created_from="made"),'


def prepare(depot, step=None, atomic=False):
    """A table with rows, and a migration with the step, whose name is returned."""
    depot.write(f"{CREATE}RunPython(add_rows, RunPython.noop),", ROWS)
    depot.migrate()
    return step and depot.write(step, atomic=atomic)


def is_right(depot):
    """Whether the ids are of the times of their rows, in the order of (time, key)."""
    order = depot.model("Order")
    scheme = order._meta.get_field("public").scheme
    rows = list(order.objects.order_by("made", "pk"))
    ids = [scheme.to_int(row.public) for row in rows]
    reverse = getattr(scheme, "descending", False)
    timed = hasattr(scheme, "tick")
    return sorted(set(ids), reverse=reverse) == ids and (
        not timed or all(scheme.parts(row.public)[0] == scheme.tick(row.made) for row in rows)
    )


@pytest.mark.parametrize("name", FIELDS)
def test_every_row_has_an_id_then(depot, name):
    prepare(depot, ADD.format(field(name, "unique=True")))
    depot.migrate()
    assert is_right(depot)
    assert is_constrained()
    depot.migrate(depot.names[0])
    assert not hasattr(depot.model("Order"), "public")
    depot.migrate()
    assert is_right(depot)


def test_an_empty_table_needs_no_times(depot):
    depot.write(CREATE)
    depot.write('AddSortableID("order", "public", ULIDField(unique=True)),', atomic=False)
    depot.migrate()
    assert is_constrained()
    assert not BackfillRun.objects.exists()


def test_rows_without_a_time_to_take_are_refused(depot):
    prepare(depot, 'AddSortableID("order", "public", ULIDField(unique=True)),')
    with pytest.raises(CommandError, match=r"^say where creation times come from: --created-from"):
        depot.migrate()


def test_a_row_without_a_time_names_the_command(depot):
    depot.write(CREATE.replace("DateTimeField()", "DateTimeField(null=True)"))
    depot.migrate()
    depot.model("Order").objects.create(made=None)
    depot.write(ADD.format("ULIDField(unique=True)"), atomic=False)
    assert depot.refusal().endswith(
        "The column has been added: run `manage.py backfill_ids depot.Order.public --created-from "
        "made` with such an option, or correct the rows, and migrate again"
    )


def test_a_large_table_is_left_to_the_command_and_gone_on_with(depot):
    prepare(depot, 'AddSortableID("order", "public", ULIDField(unique=True), "made", small=4),')
    assert depot.refusal() == (
        "more than 4 rows of depot.Order.public without an id, too many for a migration: run "
        "`manage.py backfill_ids depot.Order.public --created-from made`, and migrate again"
    )
    assert depot.column("depot_order", "public") == [None] * 5
    # What the command does, but with the model that the throw-away app has not.
    model = depot.model("Order", depot.names[-1])
    found = target_of(model, model._meta.get_field("public"), {"created_from": "made"}, "default")
    run.execute(plan.build(found, 2))
    depot.migrate()
    assert is_right(depot)
    assert is_constrained()


def test_triggers_are_refused_until_they_are_allowed(depot):
    prepare(depot)
    execute(trigger("acts", "UPDATE", "depot_order", "DELETE FROM django_migrations WHERE id < 0;"))
    adds = 'AddSortableID("order", "public", ULIDField(null=True), created_from="made"{}),'
    depot.write(adds.format(""), atomic=False)
    with pytest.raises(CommandError, match=r"the trigger acts.* allow_triggers=True of Add"):
        depot.migrate()
    assert depot.column("depot_order", "public") == [None] * 5
    depot.names.pop()
    depot.write(adds.format(", allow_triggers=True"), atomic=False)
    depot.migrate()
    assert is_right(depot)
    assert not is_constrained()


@pytest.mark.parametrize("options", [{}, {"allow_triggers": True}])
def test_the_option_is_written_where_it_is_given(options):
    operation = AddSortableID("order", "public", ULIDField(unique=True), "made", **options)
    _, _, kwargs = operation.deconstruct()
    assert {name for name in kwargs if name == "allow_triggers"} == set(options)
    assert AddSortableID(**kwargs).allow_triggers is bool(options)


def test_as_many_rows_as_are_small_are_filled(depot):
    prepare(depot, 'AddSortableID("order", "public", ULIDField(unique=True), "made", small=5),')
    depot.migrate()
    assert is_right(depot)


@pytest.mark.parametrize("after", [False, True], ids=["before", "behind"])
def test_it_goes_on_where_it_was_killed(depot, after):
    step = prepare(depot, ADD.format(field("ULIDField", "unique=True")))
    kills = 0
    for number in range(1, 20):
        with contextlib.suppress(Stopped), stopping_at(number, changes_the_schema, after=after):
            depot.migrate()
            break
        kills += 1
        connection.close()
        depot.migrate()
        assert is_right(depot)
        assert is_constrained()
        depot.migrate(depot.names[0])
    assert depot.applied()[-1] == step
    assert kills == {"postgresql": 7, "mysql": 2, "sqlite": 8}[connection.vendor]


@pytest.mark.skipif(connection.vendor == "mysql", reason="DDL ends every transaction")
@pytest.mark.parametrize(
    "step",
    [
        ADD.format("ULIDField(unique=True)"),
        'ConstrainSortableID("order", "other", ULIDField(unique=True)),',
    ],
)
def test_a_transaction_around_an_operation_is_refused(depot, step):
    depot.write(f'{CREATE}AddField("order", "other", ULIDField(null=True)),')
    depot.migrate()
    depot.write(step)
    with pytest.raises(CommandError, match="set atomic = False on the migration"):
        depot.migrate()
    assert depot.applied() == depot.names[:1]


@pytest.mark.parametrize(
    ("field", "error", "reason"),
    [
        (CharField(max_length=26), TypeError, "is of type CharField: expected a sortable id"),
        # It would give every row an id of now, so that none is left for its creation time.
        (ULIDField(db_default=GenerateID("ulid")), ValueError, "has a db_default, .* afterwards"),
        (ULIDField(primary_key=True), ValueError, "is a primary key: add a second field instead"),
    ],
)
def test_a_field_that_can_not_be_added_so(field, error, reason):
    with pytest.raises(error, match=f"^public {reason}"):
        AddSortableID("order", "public", field, "made")
