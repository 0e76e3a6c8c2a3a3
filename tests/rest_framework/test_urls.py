"""Ids in URLs: the public text finds its row, everything else is 404."""

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
from tests.store.api import serializer_for, viewset_for
from tests.store.models import PRODUCTS, Basket, Order, Profile, Refund, ULIDProduct, id_column

from .support import bare_text_of, each_scheme, full_order, text_of, url

pytestmark = pytest.mark.django_db
client = APIClient()


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


@each_scheme
def test_an_unknown_id_is_404(scheme):
    product = PRODUCTS[scheme].objects.create()
    text = text_of(product)
    product.delete()
    for name in (product._meta.model_name, f"plain-{scheme}"):
        assert client.get(url(name, text)).status_code == 404


def test_the_answer_shows_what_a_right_id_looks_like():
    assert client.get(url("ulidproduct", "01x")).json() == {
        "detail": "“01x” is not a valid ULID. Expected a text such as "
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


def test_a_row_is_found_by_the_id_of_what_it_points_to():
    order = full_order()
    refund = Refund.objects.create(name="by order", ulid=order)
    assert refund.ulid_id == order.ulid
    for lookup in ("ulid", "ulid__ulid"):
        viewset = viewset_for(serializer_for(Refund, "name"), lookup_field=lookup)
        assert get(viewset, **{lookup: text_of(order, "ulid")}).data == {"name": "by order"}
        for text in (order.ulid, "x", "\x00"):
            assert get(viewset, **{lookup: text}).status_code == 404


def test_a_row_whose_key_is_a_relation_is_found_by_the_id_behind_it():
    product = ULIDProduct.objects.create()
    Profile.objects.create(product=product, name="of the product")
    for lookup in ("pk", "product"):
        viewset = viewset_for(serializer_for(Profile, "name"), lookup_field=lookup)
        assert get(viewset, **{lookup: text_of(product)}).data == {"name": "of the product"}
        assert get(viewset, **{lookup: product.pk}).status_code == 404


def test_a_view_may_ask_for_its_row_more_than_once():
    class Twice(SortableIDLookupMixin, ReadOnlyModelViewSet):
        def retrieve(self, request, *args, **kwargs):
            assert self.get_object() == self.get_object()
            assert self.kwargs == kwargs
            return super().retrieve(request, *args, **kwargs)

    for scheme, model in PRODUCTS.items():
        product = model.objects.create(name=scheme)
        viewset = viewset_for(serializer_for(model, "name"), Twice)
        assert get(viewset, pk=text_of(product)).data == {"name": scheme}


def test_a_lookup_that_is_no_id_is_left_alone():
    Basket.objects.create(name="found")
    viewset = viewset_for(serializer_for(Basket, "name"), lookup_field="name")
    assert get(viewset, name="found").data == {"name": "found"}
    assert get(viewset, name="x").status_code == 404


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
