"""Two columns exchange their names: the last step to ids of another scheme."""

import contextlib

import pytest
from django.core.management import CommandError
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.operations import AlterField
from django.db.migrations.writer import MigrationWriter

from django_sortable_ids.checks import databases
from django_sortable_ids.checks.databases import check_databases
from django_sortable_ids.db import transactions
from django_sortable_ids.fields import KSUIDField, ULIDField, UUIDv7Field
from django_sortable_ids.models import OF_FIELDS, BackfillRun, SequenceCounter
from django_sortable_ids.operations import SwapSortableID
from tests.combinations import each_with
from tests.marks import own_tables
from tests.primary_keys.stops import RECORDS, Stopped, stop_before, stopping_at
from tests.support import columns, constraints, elsewhere, open_transaction

from .conftest import modelled
from .sources import FIELDS, ROWS, create_orders, field
from .test_constrain import UPDATE

pytestmark = own_tables

SWAP = 'SwapSortableID("order", "public", "new"),'


def prepare(depot, old="ULIDField(unique=True)", new="UUIDv7Field(unique=True)", options=""):
    create_orders(depot, ROWS, options=options, public=old, new=new)
    depot.write(SWAP)


def ids(depot):
    """Those of both columns, as the driver gives them."""
    return depot.column("depot_order", "public"), depot.column("depot_order", "new")


def schema():
    described = {
        name: (each.type_code, each.null_ok, each.collation)
        for name, each in columns("depot_order").items()
    }
    return described, constraints("depot_order")


@pytest.mark.parametrize(
    ("name", "how"),
    each_with(
        list(FIELDS), ["unique=True", "null=True", "db_index=True", "null=True, unique=True"]
    ),
)
def test_field_column_and_data_go_together(depot, name, how):
    prepare(depot, field("UUIDv7Field", how), field(name, how))
    before, described = ids(depot), schema()
    depot.migrate()
    assert ids(depot) == before[::-1]
    order = depot.model("Order")
    assert type(order._meta.get_field("public")) is type(
        depot.model("Order", "0001_step")._meta.get_field("new")
    )
    for row in order.objects.all():
        assert order.objects.get(public=row.public, new=row.new).name == row.name
    order.objects.create(name="f")
    after = schema()
    assert after[0]["public"] == described[0]["new"]
    assert after[0]["new"] == described[0]["public"]
    depot.migrate("0001")
    assert schema() == described
    assert [column[:5] for column in ids(depot)] == list(before)


@pytest.mark.parametrize("other", ["", ', db_column="b"'], ids=["one", "both"])
def test_columns_that_definitions_name_keep_their_names(depot, other):
    prepare(depot, 'ULIDField(unique=True, db_column="a")', f"UUIDv7Field(unique=True{other})")

    def pairs():
        rows = depot.model("Order").objects.order_by("name")
        return [(row.public, row.new) for row in rows]

    before = pairs()
    depot.migrate()
    assert pairs() == [(new, public) for public, new in before]
    depot.migrate("0001_step")
    assert pairs() == before


def test_a_model_whose_definitions_changed_places_needs_no_migration(depot):
    prepare(depot, 'ULIDField(prefix="ord", unique=True)', "UUIDv7Field(unique=True)")
    exchanged = {"public": UUIDv7Field(unique=True), "new": ULIDField(prefix="ord", unique=True)}
    altered = (AlterField("order", name, field) for name, field in exchanged.items())
    assert depot.undetected("0001_step", *altered)


def test_it_can_be_written_into_a_file():
    operation = SwapSortableID("Order", "public_id", "new_id")
    migration = type("Migration", (Migration,), {"operations": [operation]})("0002_x", "shop")
    assert (
        "SwapSortableID(\n            model_name='Order',\n"
        in MigrationWriter(migration).as_string()
    )


@pytest.mark.parametrize(
    "later",
    [
        'AddIndex("order", Index("public", "new", name="both")),',
        'RenameField("order", "new", "old"), AddField("order", "new", ULIDField(null=True)), '
        'AlterField("order", "new", ULIDField(null=True, unique=True)),',
    ],
)
def test_later_migrations_find_what_they_need(depot, later):
    prepare(depot)
    depot.write(later)
    depot.migrate()
    depot.write('AlterField("order", "public", UUIDv7Field(unique=True)),')
    depot.migrate()
    depot.migrate("0002")
    depot.migrate()


def test_indexes_and_constraints_of_meta_follow_their_columns(depot):
    options = (
        '"indexes": [Index(fields=["-public", "name"], name="by_old"), '
        'Index("name", name="other")],'
        '"constraints": [UniqueConstraint(fields=["new"], name="one_new"), '
        'UniqueConstraint(fields=["public"], name="one_old")],'
        '"unique_together": {("name", "new")},'
    )
    prepare(depot, "ULIDField()", "UUIDv7Field()", options)
    depot.migrate()
    meta = depot.model("Order")._meta
    assert meta.indexes[0].fields == ["-new", "name"]
    assert [(each.name, each.fields) for each in meta.constraints] == [
        ("one_new", ("public",)),
        ("one_old", ("new",)),
    ]
    assert set(meta.unique_together) == {("name", "public")}
    described = schema()[1]
    columns = {
        name: described[name]["columns"]
        for name in ("by_old", "one_new", "one_old")
        if name in described
    }
    assert columns["by_old"] == ["new", "name"]
    if connection.vendor != "sqlite":
        assert (columns["one_new"], columns["one_old"]) == (["public"], ["new"])
    depot.write('RemoveConstraint("order", "one_old"), RemoveIndex("order", "by_old"),')
    depot.write('AlterUniqueTogether("order", set()),')
    depot.migrate()
    depot.migrate("0001")


REFUSED = {
    "may be NULL": (
        ("ULIDField(unique=True)", "UUIDv7Field(unique=True, null=True)"),
        "depot.Order.public is NOT NULL, and new is not: fill it, and run a "
        "ConstrainSortableID of new before the swap",
    ),
    "may come twice": (
        ("ULIDField(unique=True)", "UUIDv7Field()"),
        "depot.Order.public is unique, and new is not: fill it, and run a "
        "ConstrainSortableID of new before the swap",
    ),
    "a primary key": (
        ("ULIDField(primary_key=True)", "UUIDv7Field(unique=True)"),
        "depot.Order.public is the primary key or a part of it, and other tables contain its "
        "values: it can't be swapped",
    ),
    "an expression": (
        (
            "ULIDField(unique=True)",
            "UUIDv7Field(unique=True)",
            '"constraints": [CheckConstraint(condition=Q(public__isnull=False), name="given")]',
        ),
        "given of depot.Order uses public or new in an expression or a condition: remove it "
        "before the swap, and add it again afterwards",
    ),
}


@pytest.mark.parametrize(("arguments", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_would_lose_something_is_refused(depot, arguments, reason):
    if "primary_key" in arguments[0]:
        old, new = arguments
        create_orders(depot, id="IntegerField(null=True)", public=old, new=new)
        depot.write(SWAP)
    else:
        prepare(depot, *arguments)
    before = ids(depot), schema()
    assert depot.refusal() == reason
    assert (ids(depot), schema()) == before
    assert depot.applied() == ["0001_step"]


def test_rows_that_are_not_converted_yet_are_refused(depot):
    prepare(depot, "ULIDField(null=True)", "UUIDv7Field(null=True)")
    order = depot.model("Order")
    order.objects.filter(name__in="bc").update(new=None)
    order.objects.filter(name="d").update(new=None, public=None)
    assert depot.refusal() == (
        "2 rows of depot.Order.public without new, and so without an id after the swap: run "
        "`manage.py backfill_ids depot.Order.new --convert-from public`, and migrate again"
    )
    order.objects.filter(name__in="bc").delete()
    depot.migrate()
    depot.model("Order").objects.update(public=None)
    depot.migrate("0001")  # the way back loses nothing


def test_a_foreign_key_to_the_old_ids_is_refused(depot):
    prepare(depot)
    depot.names.pop()
    depot.write(
        'CreateModel("Line", [("id", BigAutoField(primary_key=True)), '
        '("order", ForeignKey("depot.Order", CASCADE, to_field="public"))]),'
    )
    depot.write(SWAP)
    with pytest.raises(
        CommandError, match=r"^depot\.Line\.order refers to depot\.Order\.public by"
    ):
        depot.migrate()


def writes(sql):
    if connection.vendor == "sqlite" and "django_migrations" in sql:
        # Django's editor of schemas can't leave a transaction that was broken here.
        return False
    return sql.startswith(("ALTER", "CREATE", "DROP", "INSERT", "UPDATE", "DELETE"))


@pytest.mark.parametrize("atomic", [True, False])
def test_killed_at_any_statement_it_is_swapped_once(depot, atomic):
    """Before each of them, and after the last one. Run again, it never swaps the columns back."""
    prepare(depot)
    depot.names.pop()
    depot.write(SWAP, atomic=atomic)
    before, described = ids(depot), schema()

    def survives(number, after):
        """Whether that migration ends without a kill; the next one completes it in any case."""
        ended = False
        with contextlib.suppress(Stopped), stopping_at(number, writes, after=after):
            depot.migrate()
            ended = True
        connection.close()
        depot.migrate()
        assert ids(depot) == before[::-1]
        with contextlib.suppress(Stopped), stopping_at(number, writes, after=after):
            depot.migrate("0001")
        connection.close()
        depot.migrate("0001")
        assert (ids(depot), schema()) == (before, described)
        return ended

    beyond = next(number for number in range(1, 40) if survives(number, after=False))
    assert beyond > 3
    assert not survives(beyond - 1, after=True)


def test_runs_and_counters_follow_their_fields(depot):
    prepare(
        depot,
        "LexicalSequenceField(unique=True, charset='numeric', width=4)",
        "ULIDField(unique=True)",
    )
    last = depot.model("Order").objects.latest("pk").public
    options = dict.fromkeys(OF_FIELDS, "public")
    BackfillRun.objects.create(target="depot.Order.new", options=options)
    BackfillRun.objects.create(target="depot.Order.public", options={"created_from": "made"})
    BackfillRun.objects.create(target="depot.Other.new", options=options)
    depot.migrate()
    assert dict(BackfillRun.objects.values_list("target", "options")) == {
        "depot.Order.public": dict.fromkeys(OF_FIELDS, "new"),
        "depot.Order.new": {"created_from": "made"},
        "depot.Other.new": options,
    }
    assert SequenceCounter.objects.get().key == "depot_order.new"
    made = depot.model("Order").objects.create(name="f").new
    assert int(made) == int(last) + 1


def test_the_counter_of_each_year_follows_its_field(depot):
    prepare(
        depot,
        "LexicalSequenceField(unique=True, charset='numeric', width=4, template='{year}-{number}')",
        "ULIDField(unique=True)",
    )
    (key,) = SequenceCounter.objects.values_list("key", flat=True)
    SequenceCounter.objects.create(key="depot_order.public2 2026", first="0", step=1, taken=0)
    depot.migrate()
    assert {*SequenceCounter.objects.values_list("key", flat=True)} == {
        key.replace(".public ", ".new "),
        "depot_order.public2 2026",
    }


@pytest.mark.skipif(connection.vendor == "sqlite", reason="has one writer")
def test_it_waits_for_no_lock_for_long(depot, monkeypatch):
    """Between two tries a third one reads, which would otherwise queue up after the swap."""
    prepare(depot)
    before, tried = ids(depot), []
    with open_transaction(UPDATE) as other:

        def paused(_):
            if not tried:
                tried.append(elsewhere(lambda: depot.column("depot_order", "name")))
                other.rollback()

        monkeypatch.setattr(transactions.time, "sleep", paused)
        depot.migrate()
    assert tried
    assert ids(depot) == before[::-1]


# Models and columns that differ by a swap: it is pending, or was made and not recorded


def checked(public, new):
    """What is said of a model with these fields and the table of the depot."""
    fields = {"public": public(unique=True), "new": new(unique=True)}
    with modelled(databases, "depot_order", **fields):
        found = check_databases(databases=["default"])
    return sorted((message.id, str(message.obj)) for message in found)


def test_nothing_is_said_while_the_swap_is_pending(depot):
    old, new = KSUIDField, UUIDv7Field
    prepare(depot, "KSUIDField(unique=True)", "UUIDv7Field(unique=True)")
    assert checked(new, old) == []
    depot.migrate()
    assert checked(new, old) == []
    assert checked(old, new) != []
    depot.migrate("0001")
    assert checked(new, old) == []


def refused(depot, command, to=None):
    """Whether ``migrate`` refuses all that doesn't begin with that command."""
    found = "swapped public and new of depot.Order, and was stopped before it was recorded"
    with pytest.raises(CommandError, match=f"{found}.* Complete it by `{command}`"):
        depot.migrate(to)


def test_stopped_on_the_way_back_it_is_completed_first(depot):
    prepare(depot, "KSUIDField(unique=True)", "UUIDv7Field(unique=True)")
    BackfillRun.objects.create(target="depot.Order.new", options={"convert_from": "public"})
    before = ids(depot)
    depot.migrate()
    stop_before(depot, RECORDS, "0001")
    assert (ids(depot), depot.applied()) == (before, ["0001_step", "0002_step"])
    assert checked(UUIDv7Field, KSUIDField) == [("sortable_ids.W009", "None")]
    depot.write('AddField("order", "more", IntegerField(null=True)),')
    refused(depot, "manage.py migrate depot 0001_step")
    depot.take_back()
    depot.migrate("0001")
    assert (ids(depot), depot.applied()) == (before, ["0001_step"])
    assert checked(UUIDv7Field, KSUIDField) == []
    run = BackfillRun.objects.get()
    assert (run.target, run.options) == ("depot.Order.new", {"convert_from": "public"})
    depot.migrate()
    assert ids(depot) == before[::-1]
    depot.migrate("0001")
    assert ids(depot) == before


@pytest.mark.parametrize("new", ["UUIDv7Field(unique=True)", "ULIDField(unique=True)"])
def test_a_second_swap_of_the_same_fields_is_made(depot, new):
    """The note of the first one says nothing of it."""
    prepare(depot, new=new)
    before = ids(depot)
    depot.write(SWAP)
    depot.migrate()
    assert ids(depot) == before
    depot.migrate("0002")
    assert ids(depot) == before[::-1]
    depot.migrate("0002")
    assert ids(depot) == before[::-1]
    depot.migrate("0001")
    depot.migrate()
    assert ids(depot) == before


def test_two_swaps_in_one_migration_are_both_made(depot):
    """As in a squashed one: the note of the first is still open."""
    create_orders(depot, ROWS, public="ULIDField(unique=True)", new="UUIDv7Field(unique=True)")
    depot.write(f"{SWAP} {SWAP}")
    before = ids(depot)
    depot.migrate()
    assert ids(depot) == before
    depot.migrate("0001")
    assert ids(depot) == before


def test_the_note_of_a_swap_says_nothing_of_other_fields(depot):
    more = dict.fromkeys(("old", "other"), "UUIDv7Field(unique=True)")
    create_orders(
        depot, ROWS, public="ULIDField(unique=True)", new="UUIDv7Field(unique=True)", **more
    )
    depot.write(SWAP, atomic=False)
    stop_before(depot, RECORDS)
    depot.take_back()
    depot.write('AddField("order", "more", IntegerField(null=True)),')
    depot.write('SwapSortableID("order", "old", "other"),')
    depot.migrate("0002_step")
    assert depot.applied() == ["0001_step", "0002_step"]
