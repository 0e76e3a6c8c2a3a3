"""Path converters: public texts in URLs, values in views."""

from types import ModuleType

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import FieldDoesNotExist
from django.http import HttpResponse
from django.template import engines
from django.test import AsyncClient, override_settings
from django.urls import NoReverseMatch, converters, include, path, resolve, reverse
from django.views.generic import DetailView
from rest_framework.relations import HyperlinkedRelatedField

from django_sortable_ids.fields import ULIDField
from django_sortable_ids.ids import IDConverter, id_converter, public_id, register_converters
from tests.combinations import in_one_case
from tests.masks import KEY, misread
from tests.store.api import serializer_for, viewset_for
from tests.store.models import PRODUCTS, Basket, Bundle, Order, Profile, ULIDProduct
from tests.testapp.models import MaskedKey, MaskedPart

each_scheme = in_one_case("scheme", PRODUCTS)
SHOW = {"get": "retrieve"}


@pytest.fixture
def registry(monkeypatch):
    """A registry of converters that is empty again after the test."""
    monkeypatch.setattr(converters, "REGISTERED_CONVERTERS", {})
    converters.get_converters.cache_clear()
    yield converters.REGISTERED_CONVERTERS
    monkeypatch.undo()
    converters.get_converters.cache_clear()


def view(request, **kwargs):
    return HttpResponse()


class BasketView(DetailView):
    model = Basket

    def render_to_response(self, context):
        return HttpResponse(context["object"].name)


@pytest.fixture
def urls(registry):
    """The URLs of a project that registers all converters."""
    register_converters()
    rest = viewset_for(serializer_for(Basket, "name")).as_view(SHOW)
    patterns = [
        path("baskets/<basket_id:pk>/", BasketView.as_view(), name="basket"),
        path("rest/<basket_id:pk>/", rest),
        path("named/", include(([path("<basket_id:pk>/", rest, name="one")], "app"), "a")),
        path("keys/<maskedkey_id:id>/", view, name="masked"),
        path("later/<maskedkey_id:id>/", view_later, name="later"),
        *(
            path(f"{name}/<{model._meta.model_name}_id:id>/", view, name=name)
            for name, model in PRODUCTS.items()
        ),
        *(
            path(f"orders/{name}/<store_order_{name}:id>/", view, name=f"order-{name}")
            for name in PRODUCTS
        ),
    ]
    module = ModuleType("urls")
    module.urlpatterns = patterns
    with override_settings(ROOT_URLCONF=module):
        yield


def parse(text):
    return resolve(text).kwargs["id"]


@pytest.mark.django_db
@pytest.mark.usefixtures("urls")
def test_rest_framework_takes_what_a_converter_has_read(client):
    basket = Basket.objects.create(name="found")
    text = public_id(basket)
    for start in ("rest", "named"):
        assert client.get(f"/{start}/{text}/").json() == {"name": "found"}
        assert client.get(f"/{start}/x{text}/").status_code == 404
    link = HyperlinkedRelatedField(view_name="basket", queryset=Basket.objects)
    assert link.to_internal_value(f"/baskets/{text}/") == basket


@each_scheme
@pytest.mark.usefixtures("urls")
def test_there_and_back(scheme):
    field = PRODUCTS[scheme]._meta.pk
    value = field.scheme.example
    text = field.public_text.format(value)
    instance = PRODUCTS[scheme](pk=value)
    for each in (value, text, str(value), instance):
        assert reverse(scheme, args=[each]) == f"/{scheme}/{text}/"
        assert reverse(scheme, kwargs={"id": each}) == f"/{scheme}/{text}/"
    found = parse(f"/{scheme}/{text}/")
    assert (found, type(found)) == (value, field.scheme.value_type)


@each_scheme
@pytest.mark.usefixtures("urls")
def test_other_columns(scheme):
    field = Order._meta.get_field(scheme)
    text = field.public_text.format(field.scheme.example)
    order = Order(**{scheme: field.scheme.example})
    assert reverse(f"order-{scheme}", args=[order]) == f"/orders/{scheme}/{text}/"
    assert parse(f"/orders/{scheme}/{text}/") == field.scheme.example


@pytest.mark.usefixtures("urls")
def test_what_has_no_url():
    for value in ("x", "", None, 5, 1.5, [], Basket(), ULIDProduct(pk=None), PRODUCTS["uuid7"]()):
        with pytest.raises(NoReverseMatch):
            reverse("ulid", args=[value])


@pytest.mark.django_db
@pytest.mark.usefixtures("urls")
def test_a_view_and_a_template(client):
    basket = Basket.objects.create(name="mine")
    template = engines["django"].from_string("{% url 'basket' basket %}")
    url = template.render({"basket": basket})
    assert url == f"/baskets/{public_id(basket)}/"
    assert client.get(url).content == b"mine"
    for text in (basket.pk, "x", public_id(Basket())):
        assert client.get(f"/baskets/{text}/").status_code == 404


async def view_later(request, id):
    await MaskedPart.objects.acreate(whole_id=id)
    part = await MaskedPart.objects.select_related("whole").aget(whole=id)
    assert resolve(reverse("later", args=[id])).kwargs == {"id": id}
    return HttpResponse(f"{part.whole.name} {part.whole_id}")


@pytest.mark.django_db
@pytest.mark.usefixtures("urls")
def test_masked_ids_in_an_event_loop(settings):
    """It can't wait for the query which of several keys has masked a text: the view gets that."""
    value, _, newer = misread()
    row = MaskedKey.objects.create(pk=value, name="found")
    url = reverse("later", args=[row])
    for keys in ([KEY], [newer, KEY]):
        MaskedPart.objects.all().delete()
        settings.SORTABLE_IDS = {"MASK_KEYS": keys}
        assert async_to_sync(AsyncClient().get)(url).content == f"found {row.pk}".encode()


def test_a_class_for_djangos_own_function(registry):
    found = id_converter(Order)()
    assert isinstance(found, IDConverter)
    assert found.field is Order._meta.get_field("uuid7")
    assert id_converter(Order, "ulid").field.name == "ulid"
    assert id_converter(Bundle).field.model is ULIDProduct
    bundle = Bundle(id=ULIDField().scheme.example)
    assert id_converter(Bundle)().to_url(bundle) == f"prod_{bundle.id}"
    for model, name in ((Profile, None), (Order, "name")):
        with pytest.raises(FieldDoesNotExist):
            id_converter(model, name)


def test_names_that_are_taken_stay(registry):
    mine = converters.StringConverter
    converters.register_converter(mine, "basket_id")
    register_converters()
    register_converters()
    assert type(registry["basket_id"]) is mine
    assert registry["store_basket_id"].field is Basket._meta.pk
    # The apps of the tests have three models of this name.
    assert "order_ulid" not in registry
    assert registry["store_order_ulid"].field is Order._meta.get_field("ulid")
