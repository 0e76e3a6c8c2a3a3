"""A row whose new id is taken is saved with a fresh one, and in no other case."""

import pytest
from django.db import DatabaseError, IntegrityError, models, transaction
from django.db.models.signals import post_save, pre_save

from django_sortable_ids.collisions import TRIES, RetryOnCollision
from tests.marks import own_tables
from tests.own_tables import own_model, tables

from .support import Named, ids_of_five_tries, inserts_into, sixteen_a_tick, the_same_ids

pytestmark = own_tables


def create_three(model):
    with the_same_ids():
        return [model.objects.create() for _ in range(3)]


def fill_the_tick(model):
    model.objects.bulk_create(model(pk=value) for value in ids_of_five_tries(model._meta.pk))


def refused(save, *into, tries):
    """The error of a ``save`` that is refused after as many INSERTs."""
    with pytest.raises(IntegrityError) as error, inserts_into(*into) as made, transaction.atomic():
        save()
    assert len(made) == tries
    return error.value


def test_rows_that_collide_all_land(keyed, inside):
    model, plain = keyed
    for each in keyed:
        assert len({row.pk for row in create_three(each)}) == 3
    with pytest.raises(IntegrityError), inside():
        create_three(plain)
    with inside(), inserts_into(model) as made:
        fresh = create_three(model)
    # The first one meets all three.
    assert len(made) == 3 + 3
    assert model.objects.count() == 6
    assert {row.pk for row in fresh} < set(model.objects.values_list("pk", flat=True))
    assert plain.objects.count() == 3


def test_a_full_tick_bounds_the_tries(small, inside):
    fill_the_tick(small)
    with the_same_ids(), inside():
        row = small(slug="new")
        error = refused(row.save, small, tries=TRIES)
    assert (row.pk, row.ticket) == (None, None)
    assert row._state.adding
    assert error.__context__ is error.__cause__ is not None
    assert not small.objects.filter(slug="new").exists()
    row.save()
    assert small.objects.get(slug="new") == row


def test_another_unique_column_is_refused_at_once(small):
    small.objects.create(slug="a")
    row = small(slug="a")
    refused(row.save, small, tries=1)
    assert (row.pk, row.ticket, row.slug) == (None, None, "a")


def test_after_any_error_the_ids_are_those_of_before(small):
    row, others = small(needed="no number"), [small(), small(needed="no number")]
    for save in (row.save, lambda: small.objects.bulk_create(others)):
        with pytest.raises(ValueError, match="expected a number"), transaction.atomic():
            save()
    assert {(each.pk, each.ticket) for each in (row, *others)} == {(None, None)}


@pytest.mark.parametrize(
    "slug",
    [
        "x' for key 'PRIMARY",
        "x' for key 'testapp_small.PRIMARY'",
        "UNIQUE constraint failed: testapp_small.id",
    ],
)
def test_a_value_that_looks_like_a_message(small, slug):
    small.objects.create(slug=slug)
    refused(small(slug=slug).save, small, tries=1)


def test_a_given_id_is_never_replaced(small):
    first = small.objects.create()
    row = small(pk=first.pk)
    refused(row.save, small, tries=1)
    assert row.pk == first.pk
    other = small(ticket=first.ticket)
    refused(other.save, small, tries=1)
    assert (other.pk, other.ticket) == (None, first.ticket)


def test_a_given_key_with_a_ticket_that_collides(counted, inside):
    """Django tries an UPDATE in front of this INSERT."""
    with the_same_ids():
        counted.objects.create()
    with the_same_ids(), inside(), inserts_into(counted) as made:
        row = counted.objects.create(pk=77)
    assert (len(made), row.pk) == (2, 77)
    assert counted.objects.values("ticket").distinct().count() == 2


def test_a_constraint_of_several_columns(counted, inside):
    odd = "b' for key 'PRIMARY"
    for tenant, tries in ("a", 1), (odd, 1), ("a", 2), (odd, 2), ("a", 3):
        with the_same_ids(), inside(), inserts_into(counted) as made:
            counted.objects.create(tenant=tenant)
        assert len(made) == tries
    assert counted.objects.values("tenant", "ticket").distinct().count() == 5


def test_half_of_a_composite_key(inside):
    pair = own_model(
        "Pair",
        Named,
        RetryOnCollision,
        pk=models.CompositePrimaryKey("tenant", "number"),
        tenant=models.IntegerField(),
        number=sixteen_a_tick(),
    )
    with tables(pair):
        for tenant, tries in (1, 1), (2, 1), (1, 2):
            with the_same_ids(), inside(), inserts_into(pair) as made:
                row = pair.objects.create(tenant=tenant)
            assert len(made) == tries
            assert pair.objects.get(pk=(tenant, row.number)) == row


def test_an_unloaded_row_and_an_update_keep_what_they_have(small):
    row = small.objects.create(slug="a")
    small.objects.create(slug="b")
    small.objects.update(ticket=None)
    row.refresh_from_db()
    row.slug = "b"
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()
    row.save(update_fields=["needed"])
    row.slug = "c"
    row.save()
    assert (row.ticket, small.objects.get(slug="c").pk) == (None, row.pk)


def test_a_column_that_is_not_loaded_is_not_loaded_for_a_save(small, django_assert_num_queries):
    small.objects.create(slug="a")
    row = small.objects.only("slug").get()
    row.slug = "b"
    with transaction.atomic(), django_assert_num_queries(1):
        row.save()
    assert small.objects.get().slug == "b"


@pytest.mark.parametrize("option", [{"update_fields": ["slug"]}, {"force_update": True}])
def test_an_update_of_a_saved_row_without_its_key_inserts_none(keyed, option):
    for model in keyed:
        row = model.objects.create()
        row.pk = None
        with pytest.raises(DatabaseError, match="did not affect any rows"), transaction.atomic():
            row.save(**option)
        assert model.objects.count() == 1


@pytest.mark.parametrize("signal", [pre_save, post_save])
def test_what_a_receiver_is_refused_is_not_tried_again(small, signal):
    """The name of its key may be the same: PRIMARY."""
    audit = own_model("Audit", Named, id=models.IntegerField(primary_key=True))

    def receive(**rest):
        audit.objects.bulk_create([audit(pk=1)])

    with tables(audit):
        receive()
        signal.connect(receive, sender=small)
        try:
            refused(small().save, audit, tries=1)
        finally:
            signal.disconnect(receive, sender=small)
