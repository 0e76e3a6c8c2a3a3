"""datatables, select2 and autocomplete-light: a search finds a whole id, and nothing else."""

import json

import pytest
from dal import autocomplete
from django.forms import modelform_factory
from django.test import RequestFactory
from django_select2.forms import ModelSelect2Widget
from rest_framework import serializers
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ReadOnlyModelViewSet
from rest_framework_datatables.filters import DatatablesFilterBackend
from rest_framework_datatables.pagination import DatatablesPageNumberPagination
from rest_framework_datatables.renderers import DatatablesRenderer

from .shop.data import MALFORMED_WORDS, public
from .shop.models import Customer, Memo, Order, Product

pytestmark = pytest.mark.django_db

each_model = pytest.mark.parametrize("model", [Customer, Product, Order, Memo])


def rows(model):
    column = "name" if model in (Customer, Product) else "note"
    first, _ = (model.objects.create(**{column: text}) for text in ("first", "second"))
    return first, column


def datatable(model, column, text, regex="false"):
    """The public texts of the rows that a table of ids and names lists for the search."""
    meta = type("Meta", (), {"model": model, "fields": ["id", column]})
    view = ReadOnlyModelViewSet.as_view(
        {"get": "list"},
        queryset=model.objects.all(),
        serializer_class=type("Serializer", (serializers.ModelSerializer,), {"Meta": meta}),
        renderer_classes=[DatatablesRenderer],
        filter_backends=[DatatablesFilterBackend],
        pagination_class=DatatablesPageNumberPagination,
    )
    query = {"format": "datatables", "draw": 1, "search[value]": text, "search[regex]": regex}
    for number, name in enumerate(("id", column)):
        query |= {f"columns[{number}][data]": name, f"columns[{number}][searchable]": "true"}
    found = json.loads(view(APIRequestFactory().get("/", query)).render().content)
    return [each["id"] for each in found["data"]]


def autocompleted(model, column, text):
    view = autocomplete.Select2QuerySetView(
        queryset=model.objects.all(), search_fields=["id", column]
    )
    view.request, view.q, view.forwarded = RequestFactory().get("/"), text, {}
    return list(map(public, view.get_queryset()))


def selected(model, column, text):
    widget = ModelSelect2Widget(
        model=model, search_fields=["id__icontains", f"{column}__icontains"]
    )
    found = widget.filter_queryset(RequestFactory().get("/"), text, model.objects.all())
    return list(map(public, found))


@each_model
@pytest.mark.parametrize("search", [datatable, autocompleted, selected])
def test_a_search_finds_a_whole_id_and_nothing_else(model, search):
    first, column = rows(model)
    for text in (public(first), str(first.pk), "first"):
        assert search(model, column, text) == [public(first)]
    for text in (public(first)[:-1], str(first.pk)[:8], *MALFORMED_WORDS):
        assert search(model, column, text) == []


@each_model
def test_a_datatable_finds_a_whole_id_by_a_pattern(model):
    first, column = rows(model)
    for text in (f"^{public(first)}$", public(first), "^first$"):
        assert datatable(model, column, text, regex="true") == [public(first)]


class Customers(autocomplete.Select2QuerySetView):
    queryset = Customer.objects.order_by("name")

    def get_result_value(self, result):
        return public(result)


class CustomerWidget(ModelSelect2Widget):
    model, search_fields = Customer, ["name__icontains"]

    def result_from_instance(self, obj, request):
        return {"id": public(obj), "text": str(obj)}


@pytest.mark.parametrize("widget", [autocomplete.ModelSelect2, CustomerWidget])
def test_a_form_takes_the_masked_key_that_its_widget_offers(widget):
    customer = Customer.objects.create(name="Ada")
    if widget is CustomerWidget:
        offered = widget().result_from_instance(customer, None)["id"]
    else:
        answer = Customers.as_view()(RequestFactory().get("/"))
        (offered,) = (each["id"] for each in json.loads(answer.content)["results"])
    form_class = modelform_factory(Order, fields=["customer"], widgets={"customer": widget})
    form = form_class({"customer": offered})
    order = form.save()
    assert order.customer == customer
    assert str(customer.pk) not in str(form_class(instance=order))
