"""REST views: a URL with an old id redirects to the one with the present id."""

import pytest
from django.urls import include, path
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import RetrieveAPIView
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.test import APIClient
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.ids import public_id
from django_sortable_ids.old_ids import RedirectOldIDs
from django_sortable_ids.rest_framework import SortableIDLookupMixin
from tests.combinations import in_one_case
from tests.store.api import serializer_for, viewset_for

from .models import Gift, Purchase, Unmoved
from .test_views import OLD, OLD_UUID, moved

pytestmark = pytest.mark.django_db
client = APIClient()


class OnlyVisible(BaseFilterBackend):
    def filter_queryset(self, request, queryset, view):
        return queryset.exclude(name="hidden")


def moved_view(model, *bases, **attributes):
    serializer = serializer_for(model, "name")
    return viewset_for(serializer, RedirectOldIDs, *(bases or [ModelViewSet]), **attributes)


router = SimpleRouter()
for model in OLD:
    for kind, bases in (("strict", [SortableIDLookupMixin, ModelViewSet]), ("plain", [])):
        options = {"filter_backends": [OnlyVisible]}
        name = f"{kind}-{model._meta.model_name}"
        router.register(name, moved_view(model, *bases, **options), basename=name)
router.register("unmoved", moved_view(Unmoved), basename="unmoved")
router.register("names", moved_view(Purchase, lookup_field="name"), basename="names")
router.register("keys", moved_view(Purchase, lookup_field="id"), basename="keys")
formats = DefaultRouter()
formats.register("purchases", moved_view(Purchase), basename="purchase")


class Retrieved(RedirectOldIDs, RetrieveAPIView):
    queryset = Purchase.objects.all()
    serializer_class = serializer_for(Purchase, "name")
    lookup_url_kwarg = "number"


urlpatterns = [
    path("", include(router.urls)),
    path("formats/", include((formats.urls, "formats"), "v1")),
    path("shops/<str:shop>/<str:number>/", Retrieved.as_view()),
]


@pytest.fixture(autouse=True)
def urls(settings):
    settings.ROOT_URLCONF = __name__


@in_one_case(("kind", "model"), [(kind, model) for kind in ("strict", "plain") for model in OLD])
def test_an_old_id_redirects(kind, model):
    row = moved(model)
    url = f"/{kind}-{model._meta.model_name}"
    for method in (client.get, client.head):
        answer = method(f"{url}/{OLD[model]}/?a=1")
        assert (answer.status_code, answer.url) == (301, f"{url}/{public_id(row)}/?a=1")
    assert client.get(f"{url}/{OLD[model]}/", follow=True).json() == {"name": "found"}


def test_a_change_reaches_the_row_at_once():
    row = moved(Purchase)
    answer = client.patch("/strict-purchase/17/", {"name": "changed"}, format="json")
    assert answer.json() == {"name": "changed"}
    row.refresh_from_db()
    assert row.name == "changed"
    assert client.delete("/strict-purchase/18/").status_code == 404
    assert client.delete("/strict-purchase/17/").status_code == 204
    assert not Purchase.objects.exists()


@in_one_case("model", [Purchase, Gift])
def test_a_present_id_needs_no_further_query(model, django_assert_num_queries):
    row = moved(model)
    with django_assert_num_queries(1):
        answer = client.get(f"/strict-{model._meta.model_name}/{public_id(row)}/")
    assert answer.json() == {"name": "found"}


@in_one_case("model", OLD)
def test_the_row_must_be_among_those_of_the_view(model):
    moved(model, "hidden")
    for text in (OLD[model], "18", "x", "%00", OLD_UUID.hex):
        assert client.get(f"/strict-{model._meta.model_name}/{text}/").status_code == 404


def test_routes_with_formats_and_a_namespace():
    row = moved(Purchase)
    answer = client.get("/formats/purchases/17.json")
    assert answer.url == f"/formats/purchases/{public_id(row)}.json"
    answer = client.get("/formats/purchases/17/", headers={"accept": "text/html"})
    assert answer.url == f"/formats/purchases/{public_id(row)}/"


def test_a_route_without_a_name_and_with_other_arguments():
    row = moved(Purchase)
    assert client.get("/shops/here/17/").url == f"/shops/here/{public_id(row)}/"


def test_other_lookups_are_as_always():
    row = moved(Purchase)
    assert client.get("/names/found/").json() == {"name": "found"}
    assert client.get("/names/17/").status_code == 404
    assert client.get("/keys/17/").url == f"/keys/{public_id(row)}/"
    unmoved = Unmoved.objects.create(name="found")
    assert client.get(f"/unmoved/{unmoved.pk}/").json() == {"name": "found"}
    assert client.get(f"/unmoved/{unmoved.pk + 1}/").status_code == 404
