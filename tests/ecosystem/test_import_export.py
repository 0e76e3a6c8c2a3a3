"""django-import-export, with ``"import_export"`` among INSTALLED_APPS."""

import pytest
from import_export.resources import ModelResource, modelresource_factory
from tablib import Dataset

from .shop.data import MALFORMED_WORDS, bare, public
from .shop.models import Customer, Order, Product, Seal, Stamp, Ticket

pytestmark = pytest.mark.django_db


def resource(model, **meta):
    return modelresource_factory(model, meta_options=meta)()


def imported(model, *rows, **meta):
    headers = list(dict.fromkeys(name for row in rows for name in row))
    data = Dataset(*([row.get(name, "") for name in headers] for row in rows), headers=headers)
    return resource(model, **meta).import_data(data)


def messages(result):
    found = [str(row.error) for row in result.invalid_rows]
    return found + [str(error.error) for row in result.rows for error in row.errors]


def test_exports_are_public_texts(ticket):
    order = ticket.order
    (row,) = resource(Order).export().dict
    assert row["id"] == public(order)
    assert row["customer"] == public(order.customer)
    assert sorted(row["products"].split(",")) == sorted(map(public, order.products.all()))
    (row,) = resource(Ticket, widgets={"text": {"allow_blank": True}}).export().dict
    assert row["uuid"] == public(ticket, "uuid")
    assert row["text"] == public(ticket, "text")
    assert row["number"] == public(ticket, "number")
    assert row["order"] == public(order)


@pytest.mark.parametrize("model", [Customer, Product, Order, Ticket, Stamp])
@pytest.mark.parametrize("way", ["csv", "json", "xlsx"])
def test_what_was_exported_can_be_imported(ticket, model, way):
    Stamp.objects.create(seal=Seal.objects.create(order=ticket.order))
    exported = resource(model).export().export(way)
    before = list(model.objects.order_by("pk").values())
    products = list(ticket.order.products.order_by("pk"))
    for _ in range(2):  # over the same rows, and into an empty table
        result = resource(model).import_data(Dataset().load(exported, format=way))
        assert list(model.objects.order_by("pk").values()) == before, messages(result)
        if model is Order:
            assert list(Order.objects.get().products.order_by("pk")) == products
        model.objects.all().delete()


@pytest.mark.parametrize("blank", ["", "  ", None])
@pytest.mark.parametrize("bulk", [False, True])
def test_a_blank_id_is_a_new_row(blank, bulk):
    result = imported(Order, {"id": blank, "note": "a"}, {"id": blank, "note": "b"}, use_bulk=bulk)
    assert result.totals["new"] == 2, messages(result)
    first, second = Order.objects.order_by("pk")
    assert (first.note, second.note) == ("a", "b")


def test_a_blank_id_beside_the_key_is_generated_for_new_rows_and_kept_for_old_ones(ticket):
    order = public(ticket.order)
    blanks = dict.fromkeys(["uuid", "text", "number"], "")
    old = {"id": ticket.pk, "order": order, "note": "edited"}
    new = {"id": "", "order": order, "note": "new"}
    result = imported(Ticket, old | blanks, new | blanks)
    assert (result.totals["update"], result.totals["new"]) == (1, 1), messages(result)
    edited, created = Ticket.objects.order_by("pk")
    assert (edited.note, edited.uuid, edited.number) == ("edited", ticket.uuid, ticket.number)
    assert created.uuid
    assert created.text
    assert created.number


def test_a_relation_may_be_blank_and_have_blanks_around_it(ticket):
    one, two = ticket.order.products.all()
    rows = [
        {"id": "", "note": "none", "customer": "", "products": None},
        {"id": " ", "note": "some", "products": f" {public(one)} ,,{public(two)}, "},
    ]
    result = imported(Order, *rows)
    assert result.totals["new"] == 2, messages(result)
    none, some = (Order.objects.get(note=note) for note in ("none", "some"))
    assert (none.customer, list(none.products.all())) == (None, [])
    assert set(some.products.all()) == {one, two}
    assert {row["customer"] for row in resource(Order).export().dict if row["note"] == "none"} == {
        ""
    }


def test_a_row_with_an_id_is_found_or_created_with_it(ticket):
    order, new = ticket.order, Order()
    given = f" {public(order)} "
    result = imported(Order, {"id": given, "note": "x"}, {"id": public(new), "note": "y"})
    assert (result.totals["update"], result.totals["new"]) == (1, 1), messages(result)
    assert Order.objects.get(pk=order.pk).note == "x"
    assert Order.objects.get(pk=new.pk).note == "y"


def test_bare_ids_of_older_files_are_read_unless_masked(ticket):
    order = ticket.order
    assert imported(Order, {"id": bare(order), "note": "x"}).totals["update"] == 1
    assert imported(Customer, {"id": bare(order.customer), "name": "x"}).has_errors()


def test_rows_can_be_found_by_another_id(ticket):
    row = {"text": public(ticket, "text"), "note": "found"}
    result = imported(Ticket, row, import_id_fields=["text"], fields=["text", "note"])
    assert result.totals["update"] == 1, messages(result)
    ticket.refresh_from_db()
    assert ticket.note == "found"


@pytest.mark.parametrize("text", MALFORMED_WORDS)
@pytest.mark.parametrize("column", ["id", "customer", "products"])
def test_malformed_ids_are_errors_of_their_row(ticket, column, text):
    result = imported(Order, {"id": ""} | {column: text, "note": "bad"}, {"note": "good"})
    assert result.totals["new"] == 1
    (message,) = messages(result)
    assert "Expected" in message
    assert not Order.objects.filter(note="bad").exists()


def test_a_relation_to_a_row_that_is_not_there_is_an_error(ticket):
    result = imported(Order, {"customer": public(Customer()), "note": "bad"})
    assert "does not exist" in messages(result)[0]


def test_a_field_that_the_project_declares_is_left_alone(ticket):
    class Named(ModelResource):
        class Meta:
            model = Order
            fields = ["customer", "products"]
            widgets = {"customer": {"field": "name"}, "products": {"field": "name"}}

    products = ",".join(each.name for each in ticket.order.products.all())
    assert Named().export().dict == [{"customer": "Ada", "products": products}]


def test_natural_keys_are_those_of_the_project(ticket, monkeypatch):
    monkeypatch.setattr(Customer, "natural_key", lambda self: [self.name], raising=False)
    monkeypatch.setattr(Customer.objects, "get_by_natural_key", Customer.objects.get, raising=False)
    (row,) = resource(Order, use_natural_foreign_keys=True).export().dict
    assert row["customer"] == '["Ada"]'
