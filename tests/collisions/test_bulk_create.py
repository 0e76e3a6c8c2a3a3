"""``bulk_create``: ids made for all rows at once, fresh ones for the rows that collide."""

import pytest
from django.db import IntegrityError, connection, connections, models, transaction
from django.test.utils import CaptureQueriesContext, isolate_apps

from django_sortable_ids.collisions import (
    TRIES,
    RetryOnCollision,
    SortableIDManager,
    SortableIDQuerySet,
)
from django_sortable_ids.fields import LexicalSequenceField, Time64Field
from django_sortable_ids.models import SequenceCounter
from tests.marks import own_tables
from tests.own_tables import own_model, tables

from .support import Named, inserts_into, sixteen_a_tick, the_same_ids
from .test_save import fill_the_tick, refused

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


def test_a_constraint_of_several_columns(counted):
    make(counted, 4)
    make(counted, 4)
    with the_same_ids(), inserts_into(counted) as made:
        counted.objects.bulk_create([counted(tenant="b") for _ in range(4)])
    assert len(made) == 1
    assert counted.objects.values("tenant", "ticket").distinct().count() == 12


def test_a_full_tick_bounds_the_tries(small, inside):
    fill_the_tick(small)
    with the_same_ids(), inside():
        row = small(slug="new")
        refused(lambda: small.objects.bulk_create([row]), small, tries=TRIES)
    assert (row.pk, row.ticket) == (None, None)
    assert not small.objects.filter(slug="new").exists()


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


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_rows_that_the_transactions_snapshot_does_not_show(small):
    if connection.vendor == "mysql" and connection.mysql_is_mariadb:
        pytest.skip(
            "newer ones refuse such a row as changed since last read, which is no violation"
        )
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
            if connection.vendor == "mysql":
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            else:
                cursor.execute("START TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert not small.objects.exists()
        callers = connections["default"]
        connections["default"] = callers.copy()
        try:
            make(small, 2)
        finally:
            connections["default"].close()
            connections["default"] = callers
        make(small, 3)
        assert small.objects.count() == 3
    assert small.objects.count() == 5


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


def test_a_call_that_is_refused_leaves_no_gap():
    key = LexicalSequenceField(primary_key=True, charset="numeric", width=4)
    numbered = own_model("Ticket", Named, RetryOnCollision, id=key)
    with tables(numbered):
        numbered.objects.create(slug="a")
        with pytest.raises(IntegrityError):
            numbered.objects.bulk_create([numbered(), numbered(slug="a")])
        assert numbered.objects.create().pk == "0001"


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


def test_a_queryset_of_the_projects_own(inside):
    class Paid(SortableIDQuerySet):
        def paid(self):
            return self.filter(slug="paid")

    key = sixteen_a_tick(primary_key=True)
    payment = own_model("Payment", Named, RetryOnCollision, id=key, objects=Paid.as_manager())
    proxied = own_model("Proxy", payment, meta={"proxy": True})
    with tables(payment), inside():
        make(payment, 3)
        make(payment, 3)
        make(proxied, 3)
        assert payment.objects.count() == 9
        assert not payment.objects.paid().exists()
