"""Keys in requests: clients choose none, and a URL finds its row by the public text."""

from itertools import product
from urllib.parse import quote

import pytest
from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import ImproperlyConfigured
from django.views.generic import DetailView
from rest_framework.serializers import ModelSerializer
from rest_framework.test import APIClient, APIRequestFactory
from rest_framework.viewsets import ReadOnlyModelViewSet

from django_sortable_ids.old_ids import RedirectOldIDs
from django_sortable_ids.rest_framework import AcceptOldIDs, SortableIDLookupMixin
from tests.malformed import example_of
from tests.store.api import serializer_for, viewset_for
from tests.store.models import PRODUCTS, Order, Profile, ULIDProduct, Voucher, id_column

from .support import bare_text_of, each_scheme, full_order, text_of, url

pytestmark = pytest.mark.django_db
client = APIClient()


def keys_for(model, taken):
    """Keys that a client could send: a new one, one that is taken, and what is none."""
    new = example_of(id_column(model))
    return [new, taken, str(id_column(model).scheme.example), "x", "", None, 1, [new], {"id": new}]


@each_scheme
def test_a_new_row_gets_a_key_of_its_own(scheme):
    model = PRODUCTS[scheme]
    taken = text_of(model.objects.create(name="first"))
    for key in keys_for(model, taken):
        before = set(model.objects.values_list("pk", flat=True))
        given = {"id": key, "pk": key, "name": "second"}
        created = client.post(url(model._meta.model_name), given, format="json")
        assert created.status_code == 201, created.content
        (new,) = set(model.objects.values_list("pk", flat=True)) - before
        assert created.json()["id"] == text_of(model.objects.get(pk=new)) != key
    assert model.objects.filter(name="first").count() == 1


@each_scheme
def test_a_row_keeps_its_key(scheme):
    model = PRODUCTS[scheme]
    row, other = model.objects.create(name="row"), model.objects.create(name="other")
    route = url(model._meta.model_name, text_of(row))
    for method, key in product(("put", "patch"), keys_for(model, text_of(other))):
        given = {"id": key, "pk": key, "name": "changed"}
        answer = getattr(client, method)(route, given, format="json")
        assert (answer.status_code, answer.json()["id"]) == (200, text_of(row))
    names = dict(model.objects.values_list("pk", "name"))
    assert names == {row.pk: "changed", other.pk: "other"}


def test_a_blank_never_replaces_the_id_of_a_row():
    row = Voucher.objects.create()
    assert row.code
    route = url("voucher", text_of(row))
    for method, blank in product((client.put, client.patch), ({}, {"code": ""})):
        assert method(route, blank | {"name": "b"}, format="multipart").status_code == 200
    for method in (client.put, client.patch):
        assert method(route, {"name": "b"}, format="json").status_code == 200
        for wrong in ("", " "):
            answer = method(route, {"code": wrong, "name": "b"}, format="json")
            assert (answer.status_code, [*answer.json()]) == (400, ["code"])
    assert Voucher.objects.values_list("name", "code").get() == ("b", row.code)
    assert client.patch(route, {"code": None}, format="json").json()["code"] is None


@each_scheme
def test_an_id_beside_an_integer_key_is_no_choice_of_clients_either(scheme):
    order = full_order()
    other = example_of(id_column(Order, scheme))
    route = url(f"order-by-{scheme}", text_of(order, scheme))
    for method in (client.put, client.patch):
        answer = method(route, {scheme: other, "id": 10**6, "name": "changed"}, format="json")
        assert answer.json()[scheme] == text_of(order, scheme)
    created = client.post(url(f"order-by-{scheme}"), {scheme: other, "name": "new"}, format="json")
    assert created.json()[scheme] not in (other, text_of(order, scheme))
    assert Order.objects.count() == 2


def test_unless_the_project_lets_them():
    key = example_of(id_column(Voucher))
    options = {"extra_kwargs": {"id": {"read_only": False}}}
    serializer = serializer_for(Voucher, "id", "name", **options)
    filled = serializer(data={"id": key, "name": "chosen"})
    assert filled.is_valid(), filled.errors
    voucher = filled.save()
    assert text_of(voucher) == key
    assert not serializer(data={"id": key, "name": "chosen"}).is_valid()
    assert not serializer(data={"id": voucher.pk, "name": "bare"}).is_valid()


# Ids in URLs: the public text finds its row, everything else is 404.


def get(viewset, **kwargs):
    """What a view of one's own answers, without a route that could refuse first."""
    return viewset.as_view({"get": "retrieve"})(APIRequestFactory().get("/"), **kwargs)


@each_scheme
def test_without_the_mixin_the_bare_id_finds_the_row_too(scheme):
    field = id_column(PRODUCTS[scheme])
    product = PRODUCTS[scheme].objects.create()
    bare = str(field.scheme.example)
    assert client.get(url(f"plain-{scheme}", bare)).status_code == 404
    for text in (bare_text_of(product), text_of(product)):
        assert client.get(url(f"plain-{scheme}", text)).status_code == 200, text


def test_the_answer_shows_what_a_right_id_looks_like():
    assert client.get(url("ulidproduct", "01x")).json() == {
        "detail": "“01x” is not a valid ulid product id. Expected a text such as "
        "prod_01KDVDNA00PVDPVDPVDPVDPVDM."
    }


@pytest.mark.parametrize("spell", [str.upper, lambda text: text.replace("-", ""), "{{{}}}".format])
def test_any_accepted_spelling_finds_the_row(spell):
    product = PRODUCTS["uuid7"].objects.create(name="found")
    answer = client.get(url("uuidv7product", quote(spell(str(product.pk)))))
    assert answer.json() == {"id": str(product.pk), "name": "found"}


def test_a_page_about_a_malformed_id_escapes_it():
    route = url("ulidproduct", quote("<script>alert(1)</script>", safe=""))
    answer = client.get(route, headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "<script>alert" not in answer.content.decode()
    route = url("ulidproduct", quote('"><img src=x onerror=alert(1)>', safe=""))
    answer = client.get(route, headers={"accept": "text/html"})
    assert "<img src=x" not in answer.content.decode()


def test_the_argument_in_the_url_may_have_another_name():
    product = ULIDProduct.objects.create(name="found")
    viewset = viewset_for(serializer_for(ULIDProduct, "name"), lookup_url_kwarg="product_id")
    assert get(viewset, product_id=text_of(product)).data == {"name": "found"}
    assert get(viewset, product_id=bare_text_of(product)).status_code == 404


def test_a_view_may_look_up_its_row_twice():
    product = ULIDProduct.objects.create(name="found")

    def retrieve(self, request, **kwargs):
        assert self.get_object() == product
        return super(viewset, self).retrieve(request, **kwargs)

    viewset = viewset_for(serializer_for(ULIDProduct, "name"))
    assert get(type("Twice", (viewset,), {"retrieve": retrieve}), pk=text_of(product)).data == {
        "name": "found"
    }


def test_a_row_whose_key_is_a_relation_is_found_by_the_id_behind_it():
    product = ULIDProduct.objects.create()
    Profile.objects.create(product=product, name="of the product")
    for lookup in ("pk", "product"):
        viewset = viewset_for(serializer_for(Profile, "name"), lookup_field=lookup)
        assert get(viewset, **{lookup: text_of(product)}).data == {"name": "of the product"}
        assert get(viewset, **{lookup: product.pk}).status_code == 404


def test_a_forgotten_lookup_field_is_an_error_and_no_look_up_of_another_key():
    order = Order.objects.create(name="numbered")
    with pytest.raises(
        ImproperlyConfigured, match="AutoField and no sortable id: set lookup_field"
    ):
        get(viewset_for(serializer_for(Order, "name")), pk=order.pk)


@pytest.mark.parametrize(
    ("mixin", "usual"),
    [
        (SortableIDLookupMixin, ReadOnlyModelViewSet),
        (RedirectOldIDs, ReadOnlyModelViewSet),
        (RedirectOldIDs, DetailView),
        (AcceptOldIDs, ModelSerializer),
    ],
)
def test_a_mixin_to_the_right_of_the_class_that_it_extends_is_an_error(mixin, usual):
    own = type("Own", (mixin,), {"get_object": lambda self: super().get_object()})
    type("Left", (LoginRequiredMixin, own, usual), {})
    for wrong in (mixin, own):
        with pytest.raises(ImproperlyConfigured, match=f"Right: {mixin.__name__} stands to the "):
            type("Right", (usual, wrong), {})
