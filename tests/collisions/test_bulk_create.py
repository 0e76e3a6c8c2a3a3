"""``bulk_create``: ids made for all rows at once, fresh ones for the rows that collide."""

import pytest
from django.db import IntegrityError, connection, connections, models
from django.test.utils import CaptureQueriesContext, isolate_apps

from django_sortable_ids.collisions import RetryOnCollision, SortableIDManager
from django_sortable_ids.fields import LexicalSequenceField, SnowflakeField, Time64Field
from django_sortable_ids.functions import GenerateID
from django_sortable_ids.models import SequenceCounter
from tests.marks import own_tables
from tests.own_tables import own_model, second_database, tables

from .support import Named, inserts_into, sixteen_a_tick, the_same_ids
from .test_save import refused

pytestmark = own_tables


def make(model, count, **options):
    with the_same_ids():
        return model.objects.bulk_create((model() for _ in range(count)), **options)


def test_only_the_rows_that_collide_get_fresh_ids(keyed, inside):
    model, plain = keyed
    for each in keyed:
        make(each, 3)
    with pytest.raises(IntegrityError), inside():
        make(plain, 5)
    with the_same_ids():
        usual = [model._meta.pk.generate() for _ in range(200)]
    with inside(), inserts_into(model) as made:
        rows = make(model, 200)
    assert len(made) == 2
    ids = [row.pk for row in rows]
    assert ids[3:] == usual[3:]
    assert min(ids[:3]) > usual[-1]
    assert ids[:3] == sorted(ids[:3])
    assert model.objects.count() == 203
    assert {*usual} | {*ids} == set(model.objects.values_list("pk", flat=True))


def test_an_id_that_a_row_of_the_same_call_was_given(small):
    with the_same_ids():
        (taken,) = small._meta.pk.generate_many_for([small()], "default")
    with the_same_ids(), inserts_into(small) as made:
        rows = small.objects.bulk_create([small(), small(pk=str(taken)), small()])
    assert len(made) == 2
    assert rows[1].pk == taken
    assert len({row.pk for row in rows}) == small.objects.count() == 3


class Visible(SortableIDManager):
    def get_queryset(self):
        return super().get_queryset().filter(slug__isnull=True)


def test_an_id_of_a_row_that_the_manager_hides():
    key = sixteen_a_tick(primary_key=True)
    with tables(own_model("Hiding", Named, RetryOnCollision, id=key, objects=Visible())) as model:
        with the_same_ids():
            hidden = model.objects.create(slug="hidden")
        with the_same_ids():
            row, given = model.objects.bulk_create([model(), model(pk=hidden.pk + 10**6)])
        assert {row.pk, given.pk} == {*model.objects.values_list("pk", flat=True)}
        assert model._base_manager.count() == 3


def test_other_violations_are_raised_at_once(small):
    taken = small.objects.create(slug="a")
    for bad in ({"slug": "a"}, {"needed": None}, {"pk": taken.pk}, {"ticket": taken.ticket}):
        rows = [small(), small(**bad)]
        refused(lambda rows=rows: small.objects.bulk_create(rows), small, tries=1)
        assert [(row.pk, row.ticket) for row in rows] == [
            (None, None),
            (bad.get("pk"), bad.get("ticket")),
        ]
    assert small.objects.get() == taken


def test_conflicts_are_left_to_the_database(small):
    make(small, 4)
    with inserts_into(small) as made:
        rows = make(small, 6, ignore_conflicts=True)
    assert len(made) == 1
    assert {(row.pk, row.ticket) for row in rows} == {(None, None)}
    assert small.objects.count() == 6
    small.objects.update(needed=7)
    with_target = connection.features.supports_update_conflicts_with_target
    unique_fields = ["id"] if with_target else None
    if with_target:
        small.objects.update(ticket=None)
    with inserts_into(small) as made:
        make(small, 6, update_conflicts=True, update_fields=["needed"], unique_fields=unique_fields)
    assert len(made) == 1
    assert set(small.objects.values_list("needed", flat=True)) == {1}
    assert small.objects.count() == 6


def test_a_collision_in_an_upsert_is_raised_at_once(small):
    if not connection.features.supports_update_conflicts_with_target:
        pytest.skip("an upsert updates for every conflict")
    make(small, 1)
    upsert = {"update_conflicts": True, "update_fields": ["needed"], "unique_fields": ["slug"]}
    refused(lambda: make(small, 1, **upsert), small, tries=1)


def test_a_sequence_is_counted_up_once(inside):
    numbered = own_model(
        "Ticket",
        Named,
        RetryOnCollision,
        id=LexicalSequenceField(primary_key=True, charset="numeric", width=4),
        spare=LexicalSequenceField(charset="numeric", width=4),
    )
    table = connection.ops.quote_name(SequenceCounter._meta.db_table)
    with tables(numbered):
        numbered.objects.create()
        rows = [numbered(spare="0900" if n == 3 else None) for n in range(50)]
        with inside(), CaptureQueriesContext(connection) as queries:
            numbered.objects.bulk_create(rows)
        counted = [each["sql"] for each in queries if each["sql"].startswith(f"UPDATE {table}")]
        assert len(counted) == 2
        assert [row.pk for row in rows] == [f"{n:04}" for n in range(1, 51)]
        assert [row.spare for row in rows[2:5]] == ["0003", "0900", "0004"]
        assert numbered.objects.create().pk == "0051"


def test_a_model_without_retries_has_its_other_ids_made_at_once(inside):
    with isolate_apps("tests.testapp"):

        class Owner(Named):
            id = models.BigAutoField(primary_key=True)

        class Item(Named):
            id = Time64Field(primary_key=True)
            owner = models.ForeignKey(Owner, models.CASCADE, null=True, related_name="items")
            ticket = sixteen_a_tick(unique=True)
            objects = SortableIDManager()

    with tables(Owner, Item), inside():
        owner = Owner.objects.create()
        with the_same_ids():
            first = Item.objects.create()
        items = [Item(id=n + 10**18, owner=owner) for n in range(3)]
        with the_same_ids():
            next_ids = Item._meta.pk.generate_many_for([first], "default")
            owner.items.bulk_create(items)
        assert next_ids == [first.pk]
        assert owner.items.count() == 3
        assert Item.objects.values("ticket").distinct().count() == 4
        again = Item(pk=first.pk)
        refused(lambda: Item.objects.bulk_create([again]), Item, tries=1)


def test_null_stays_in_a_column_whose_ids_the_database_generates(inside):
    ticket = SnowflakeField(unique=True, null=True, db_default=GenerateID())
    model = own_model("Given", Named, RetryOnCollision, ticket=ticket)
    with tables(model), inside():
        model.objects.bulk_create([model(ticket=None), model()])
        assert [row.ticket is None for row in model.objects.order_by("pk")] == [True, False]


# The other ways to insert a row: a child's, ``get_or_create``, asyncio, fixtures, a database.


@pytest.fixture
def family():
    """A parent that retries, and its child."""
    parent = own_model("Parent", Named, RetryOnCollision, id=sixteen_a_tick(primary_key=True))
    ticket = sixteen_a_tick(unique=True, null=True)
    child = own_model("Child", parent, code=models.IntegerField(unique=True), ticket=ticket)
    with tables(parent, child):
        yield parent, child


def test_a_child_has_the_fresh_key_of_its_parent(family, inside):
    parent, child = family
    with the_same_ids():
        other = parent.objects.create()
    with the_same_ids(), inside(), inserts_into(parent) as parents, inserts_into(child) as children:
        row = child.objects.create(code=1)
    assert (len(parents), len(children)) == (2, 1)
    assert row.pk == row.id == row.parent_ptr_id == child.objects.get().pk != other.pk
    assert parent.objects.count() == 2


def test_a_childs_own_column(family, inside):
    parent, child = family
    with the_same_ids():
        other = child.objects.create(code=1)
    parent.objects.update(slug="old")
    with the_same_ids(), inside(), inserts_into(parent) as parents, inserts_into(child) as children:
        row = child(pk=77, id=77, code=2)
        parent._meta.pk.generate()  # as the other key was made
        row.save()
    assert (len(parents), len(children)) == (1, 2)
    assert row.ticket != other.ticket
    assert (row.pk, child.objects.count(), parent.objects.count()) == (77, 2, 2)


@pytest.fixture
def other(tmp_path, django_db_blocker):
    with django_db_blocker.unblock(), second_database(tmp_path) as alias:
        yield alias


def test_another_database(small, other, inside):
    with tables(small, using=connections[other]):
        for _ in range(2):
            with the_same_ids(), inside(using=other):
                small().save(using=other)
            with the_same_ids(), inside(using=other):
                small.objects.using(other).bulk_create([small(), small()])
        assert small.objects.using(other).count() == 6
    assert not small.objects.exists()
