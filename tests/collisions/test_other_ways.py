"""The other ways to insert a row: a child's, ``get_or_create``, asyncio, fixtures, a database."""

import pytest
from asgiref.sync import async_to_sync
from django.core.serializers.base import DeserializedObject, build_instance
from django.db import connection, connections, models

from django_sortable_ids.collisions import RetryOnCollision, SortableIDManager
from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.models import SequenceCounter
from tests.marks import own_tables
from tests.own_tables import own_model, second_database, tables

from .support import Named, inserts_into, sixteen_a_tick, the_same_ids
from .test_save import refused

pytestmark = own_tables


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


def test_get_or_create_returns_no_other_row(small, inside):
    with the_same_ids():
        other = small.objects.create(slug="other")
    with the_same_ids(), inside():
        row, created = small.objects.get_or_create(slug="new")
    assert created
    assert (row.slug, row.pk != other.pk) == ("new", True)
    assert small.objects.get_or_create(slug="new") == (row, False)
    assert small.objects.get_or_create(slug="other") == (other, False)


def test_update_or_create(small, inside):
    with the_same_ids():
        other = small.objects.create(slug="other")
    with the_same_ids(), inside():
        row, created = small.objects.update_or_create({"needed": 5}, slug="new")
        assert created
        assert small.objects.update_or_create({"needed": 6}, slug="new") == (row, False)
    other.refresh_from_db()
    assert (other.slug, other.needed) == ("other", 1)
    assert small.objects.get(slug="new").needed == 6


@pytest.mark.parametrize(
    "insert",
    [
        lambda model: model.objects.acreate(),
        lambda model: model().asave(),
        lambda model: model.objects.abulk_create([model(), model()]),
        lambda model: model.objects.aget_or_create(slug="a"),
        lambda model: model.objects.aupdate_or_create(slug="a"),
    ],
    ids=["acreate", "asave", "abulk_create", "aget_or_create", "aupdate_or_create"],
)
def test_asyncio(small, insert):
    with the_same_ids():
        first = small.objects.create()

    async def insert_again():
        with the_same_ids():
            await insert(small)

    async_to_sync(insert_again)()
    assert small.objects.exclude(pk=first.pk).exclude(ticket=first.ticket).exists()


def load(model, **values):
    """What loaddata does with an object of a fixture."""
    loaded = DeserializedObject(build_instance(model, values, "default"))
    loaded.save()
    return loaded.object


def test_a_fixture(small):
    with the_same_ids():
        row = small.objects.create(slug="a")
    assert load(small, pk=row.pk, ticket=row.ticket, slug="b") == row
    assert small.objects.get().slug == "b"
    refused(lambda: load(small, pk=1, ticket=row.ticket), small, tries=1)
    refused(lambda: load(small, ticket=row.ticket), small, tries=1)
    with the_same_ids(), inserts_into(small) as made:
        loaded = load(small)
    assert (len(made), loaded.ticket, small.objects.count()) == (2, None, 2)


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


def test_a_sequence_of_another_database(other):
    numbered = own_model(
        "Ticket",
        Named,
        id=models.BigAutoField(primary_key=True),
        number=LexicalSequenceField(charset="numeric", width=4, unique=True),
        objects=SortableIDManager(),
    )
    with tables(numbered, SequenceCounter, using=connections[other]):
        numbered.objects.using(other).bulk_create([numbered(), numbered()])
        saved = numbered()
        saved.save(using=other)
        assert (saved.number, numbered.objects.using(other).create().number) == ("0002", "0003")
        assert SequenceCounter.objects.using(other).get().taken == 4
    assert not SequenceCounter.objects.exists()


def test_an_index_of_expressions_is_refused_at_once():
    if not connection.features.supports_expression_indexes:
        pytest.skip("no indexes of expressions")
    folded = models.UniqueConstraint(models.F("ticket") + 0, name="folded_ticket")
    keyed_by_expression = own_model(
        "Folded",
        Named,
        RetryOnCollision,
        meta={"constraints": [folded]},
        id=sixteen_a_tick(primary_key=True),
        ticket=sixteen_a_tick(),
    )
    with tables(keyed_by_expression):
        with the_same_ids():
            keyed_by_expression.objects.create()
        keyed_by_expression.objects.update(id=1)
        with the_same_ids():
            refused(keyed_by_expression().save, keyed_by_expression, tries=1)
