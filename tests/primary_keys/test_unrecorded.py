"""A move that was stopped after its tables began to change, and whose migration is not recorded:
``migrate`` refuses all that does not complete it, and says what does."""

import re

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from django_sortable_ids.checks import databases
from django_sortable_ids.checks.databases import check_databases
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.migrating.unrecorded import unrecorded_changes
from django_sortable_ids.models import BackfillRun, MoveNote
from tests.backfill.command import called, printed
from tests.marks import own_tables
from tests.migrations.conftest import modelled

from . import small
from .mysql import mysql_only
from .stops import RECORDS, stop_before

pytestmark = own_tables
DIRECTIONS = pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
RENAMES = re.compile("RENAME TABLE")
NOTE = re.compile(r'(INSERT INTO|UPDATE) ["`]?django_sortable_ids_movenote.*backwards')


def stop(depot, *, backwards, statement=RECORDS):
    """Stop a move, and return the targets of the way on and of the way back."""
    small.create(depot)
    small.write_move(depot)
    if backwards:
        depot.migrate()
    targets = ["0001_step", "0002_step"] if backwards else ["0002_step", "0001_step"]
    stop_before(depot, statement, targets[0])
    return targets


@pytest.mark.parametrize("statement", [RECORDS, pytest.param(RENAMES, marks=mysql_only)])
@DIRECTIONS
def test_all_that_does_not_complete_it_is_refused(depot, backwards, statement):
    on, back = stop(depot, backwards=backwards, statement=statement)
    command = f"`manage.py migrate depot {on}`"
    (found,) = check_databases(databases=["default"])
    assert found.id == "sortable_ids.W009"
    assert command in found.hint
    with pytest.raises(CommandError, match=f"Complete it by {command}"):
        depot.migrate(back)
    with pytest.raises(CommandError, match="Nothing was migrated") as refused:
        call_command("migrate", "django_sortable_ids", verbosity=0)
    assert command in str(refused.value)
    depot.migrate(on)
    assert small.names(depot) == (small.IN_ORDER_OF_KEYS if backwards else small.IN_ORDER)
    assert check_databases(databases=["default"]) == []
    depot.migrate(back)
    assert small.names(depot) == (small.IN_ORDER if backwards else small.IN_ORDER_OF_KEYS)
    assert check_databases(databases=["default"]) == []


LEFT = {
    "before": (NOTE, "No key was moved. "),
    "after": (
        re.compile(r"DELETE FROM .django_sortable_ids_backfillrun"),
        "The keys were moved, and that is not recorded: run no application until it is. ",
    ),
    "between": (RENAMES, "The move stopped in its last step: run no application until it is "),
}
"""What is done when the database refuses a statement."""


@pytest.mark.parametrize("when", ["before", "after", pytest.param("between", marks=mysql_only)])
def test_an_error_of_the_database_says_what_is_done(depot, when):
    statement, said = LEFT[when]

    def execute(run, sql, params, *rest):
        return run("wrong" if statement.match(f"{sql} {params!r}") else sql, params, *rest)

    small.create(depot)
    small.write_move(depot)
    with pytest.raises(DatabaseError) as raised, connection.execute_wrapper(execute):
        depot.migrate()
    (note,) = raised.value.__notes__
    assert note.startswith(said)
    assert note.endswith(". Continue with: the same `manage.py migrate`")
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER


@mysql_only
def test_nothing_is_migrated_without_its_migration(depot):
    stop(depot, backwards=False, statement=RENAMES)
    path = depot.folder / "migrations" / "0002_step.py"
    written = path.read_text()
    path.unlink()
    with pytest.raises(CommandError, match="Restore it, and complete it"):
        depot.migrate("0001_step")
    # Its rehearsal would drop the new tables, without which the move would seem to be complete.
    text, error = called("depot", primary_key=True)
    assert not text
    assert str(error).startswith("a move of the keys of depot.Customer was stopped in the middle: ")
    path.write_text(written)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER


def test_a_plan_that_starts_with_others_is_refused(depot):
    stop(depot, backwards=False)
    MigrationRecorder(connection).record_unapplied("depot", "0001_step")
    with pytest.raises(CommandError, match="Nothing was migrated"):
        depot.migrate()


def test_what_is_first_of_its_app_is_undone_by_zero(depot):
    moved = small.MOVE.format(
        field="UUIDv7Field(primary_key=True)",
        options=f'created_from="created_at", old={small.OLD}',
        references=[small.REFERENCE],
        generic=[],
    )
    operations = small.MODELS.format(key="BigAutoField(primary_key=True)")
    depot.write(f"{operations}RunPython(add_rows, RunPython.noop),\n{moved}", small.ROWS, False)
    depot.migrate()
    note = MoveNote.objects.get(target="move depot.Customer")
    note.identity["backwards"] = True
    note.state["recorded"]["last"] = 1 << 31
    note.save()
    with pytest.raises(CommandError, match=r"`manage\.py migrate depot zero`"):
        depot.migrate()


def test_the_check_of_its_columns_waits(depot):
    """The models are those of after the move, and the tables those of before: without that,
    ``migrate`` could not complete an undoing."""
    stop(depot, backwards=True)
    with modelled(databases, "depot_customer", id=UUIDv7Field(primary_key=True)):
        assert [each.id for each in check_databases(databases=["default"])] == ["sortable_ids.W009"]


def test_a_backfill_of_a_move_is_not_left_over_from_a_field():
    BackfillRun.objects.create(target="depot.CustomerMovedKeyMap.new_key", options={})
    BackfillRun.objects.create(target="depot.Order.gone", options={})
    lines = printed("--status").splitlines()
    assert "  continue with: manage.py migrate" in lines
    (gone,) = (number for number, line in enumerate(lines) if "no longer exists" in line)
    assert lines[gone - 2].startswith("depot.Order.gone: ")
    assert lines[gone] == (
        "  the field no longer exists: delete the row of django_sortable_ids_backfillrun"
    )


# Keys that move more than once, to fields of the same class: each move is executed

AGAIN = {
    "field": 'UUIDv7Field(primary_key=True, storage="char36")',
    "options": 'created_from="created_at"',
}
"""A second field for the old key would have the name of the first."""


def moved_once(depot):
    small.create(depot)
    small.write_move(depot)
    depot.migrate()


def lengths(depot):
    return {len(str(each)) for each in depot.column("depot_order", "customer_id")}


def test_one_plan_with_both(depot, small_move):
    small.write_move(depot, **AGAIN)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert lengths(depot) == {36}
    assert unrecorded_changes(connection) == []


def test_a_second_move_that_was_not_recorded(depot):
    moved_once(depot)
    small.write_move(depot, **AGAIN)
    depot.migrate("0002_step")  # reads the new migration
    assert unrecorded_changes(connection) == []
    stop_before(depot, RECORDS, "0003_step")
    assert [each.migration for each in unrecorded_changes(connection)] == [("depot", "0003_step")]
    with pytest.raises(CommandError, match=r"Complete it by `manage.py migrate depot 0003_step`"):
        depot.migrate("0001_step")
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert unrecorded_changes(connection) == []


def test_a_move_after_the_way_back_that_was_not_recorded(depot):
    moved_once(depot)
    depot.migrate("0001_step")
    stop_before(depot, RECORDS, "0002_step")
    assert [each.migration for each in unrecorded_changes(connection)] == [("depot", "0002_step")]
    depot.migrate()
    assert unrecorded_changes(connection) == []
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_a_table_that_was_made_again(depot):
    moved_once(depot)
    depot.write('DeleteModel("Order"),\nDeleteModel("Customer"),')
    small.create(depot)
    small.write_move(depot)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    depot.migrate("0004_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_a_move_that_was_edited_before_it_was_recorded(depot, small_move):
    stop_before(depot, RECORDS, "0002_step")
    depot.names.pop()
    small.write_move(depot, field=AGAIN["field"])
    assert depot.refusal().splitlines() == [
        "No key was moved.",
        "depot_customer has a column old_id already, which a move adds: if the key was moved "
        "before, restore the migration as it was then; otherwise rename or drop the column, and "
        "run this again",
    ]
    depot.names.pop()
    small.write_move(depot)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
