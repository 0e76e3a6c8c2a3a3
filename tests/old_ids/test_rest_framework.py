"""REST views: a URL with an old id redirects to the one with the present id."""

import pytest
from django.urls import include, path
from rest_framework.authentication import BaseAuthentication
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import RetrieveAPIView
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.relations import PrimaryKeyRelatedField
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.serializers import Serializer
from rest_framework.test import APIClient
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.ids import public_id
from django_sortable_ids.rest_framework import (
    RedirectOldIDs,
    SortableIDField,
    SortableIDLookupMixin,
)
from tests.combinations import in_one_case
from tests.rest_framework.support import WRONG_TYPES
from tests.store.api import serializer_for, viewset_for

from .models import Gift, Parcel, Purchase, Secret, Unmoved
from .test_views import OLD, OLD_UUID, moved

pytestmark = pytest.mark.django_db
client = APIClient()


class OnlyVisible(BaseFilterBackend):
    def filter_queryset(self, request, queryset, view):
        return queryset.exclude(name="hidden")


class Allowed(BasePermission):
    def has_object_permission(self, request, view, obj):
        return obj.name != "forbidden"


class Nobody(BaseAuthentication):
    def authenticate(self, request):
        return None

    def authenticate_header(self, request):
        return "Nobody"


def moved_view(model, *bases, **attributes):
    serializer = serializer_for(model, "name")
    return viewset_for(serializer, RedirectOldIDs, *(bases or [ModelViewSet]), **attributes)


router = SimpleRouter()
for model in OLD:
    for kind, bases in (("strict", [SortableIDLookupMixin, ModelViewSet]), ("plain", [])):
        options = {"filter_backends": [OnlyVisible], "permission_classes": [Allowed]}
        name = f"{kind}-{model._meta.model_name}"
        router.register(name, moved_view(model, *bases, **options), basename=name)
router.register("unmoved", moved_view(Unmoved), basename="unmoved")
router.register("names", moved_view(Purchase, lookup_field="name"), basename="names")
router.register("keys", moved_view(Purchase, lookup_field="id"), basename="keys")
router.register("temporary", moved_view(Purchase, redirect_permanently=False), basename="temporary")
private = moved_view(
    Purchase, permission_classes=[IsAuthenticated], authentication_classes=[Nobody]
)
router.register("private", private, basename="private")
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
    for method, status in (("get", 301), ("head", 301), ("put", 308), ("delete", 308)):
        answer = getattr(client, method)(f"{url}/{OLD[model]}/?a=1")
        assert (answer.status_code, answer.url) == (status, f"{url}/{public_id(row)}/?a=1")
    assert client.get(f"{url}/{OLD[model]}/", follow=True).json() == {"name": "found"}


def test_a_change_reaches_the_row():
    row = moved(Purchase)
    client.patch("/strict-purchase/17/", {"name": "changed"}, format="json", follow=True)
    row.refresh_from_db()
    assert row.name == "changed"
    client.delete("/strict-purchase/17/", follow=True)
    assert not Purchase.objects.exists()


@in_one_case("model", [Purchase, Parcel, Secret, Gift])
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


def test_permissions_are_checked_first():
    moved(Purchase, "forbidden")
    assert client.get("/strict-purchase/17/").status_code == 403
    assert client.get("/private/17/").status_code == 401


def test_routes_with_formats_and_a_namespace():
    row = moved(Purchase)
    answer = client.get("/formats/purchases/17.json")
    assert answer.url == f"/formats/purchases/{public_id(row)}.json"
    answer = client.get("/formats/purchases/17/", headers={"accept": "text/html"})
    assert answer.url == f"/formats/purchases/{public_id(row)}/"


def test_a_route_without_a_name_and_with_other_arguments():
    row = moved(Purchase)
    assert client.get("/shops/here/17/").url == f"/shops/here/{public_id(row)}/"


def test_a_temporary_redirect():
    moved(Purchase)
    assert client.get("/temporary/17/").status_code == 302
    assert client.post("/temporary/17/").status_code == 405
    assert client.put("/temporary/17/").status_code == 307


def test_other_lookups_are_as_always():
    row = moved(Purchase)
    assert client.get("/names/found/").json() == {"name": "found"}
    assert client.get("/names/17/").status_code == 404
    assert client.get("/keys/17/").url == f"/keys/{public_id(row)}/"
    unmoved = Unmoved.objects.create(name="found")
    assert client.get(f"/unmoved/{unmoved.pk}/").json() == {"name": "found"}
    assert client.get(f"/unmoved/{unmoved.pk + 1}/").status_code == 404


def accepting(model, accept_old=True):
    key = SortableIDField(model._meta.pk, read_only=False, accept_old=accept_old)
    related = PrimaryKeyRelatedField(queryset=model.objects.exclude(name="hidden"), pk_field=key)
    return type("Form", (Serializer,), {"row": related})


@in_one_case("model", [each for each in OLD if each is not Gift])
def test_input_of_old_ids_is_accepted_on_demand(model):
    row = moved(model)
    for given in (OLD[model], str(OLD[model]), public_id(row)):
        form = accepting(model)(data={"row": given})
        form.is_valid(raise_exception=True)
        assert form.validated_data == {"row": row}
    assert accepting(model)(instance={"row": row}).data == {"row": public_id(row)}
    assert not accepting(model, accept_old=False)(data={"row": str(OLD[model])}).is_valid()


@in_one_case("model", [each for each in OLD if each is not Gift])
def test_wrong_input_is_refused_as_always(model):
    moved(model, "hidden")
    for wrong in (OLD[model], "18", 18, "x", "\0", *WRONG_TYPES):
        assert not accepting(model)(data={"row": wrong}).is_valid(), wrong


def test_input_that_is_a_present_id_and_an_old_one():
    present = Parcel.objects.create(name="present")
    Parcel.objects.create(name="old", old_id=present.pk)
    form = accepting(Parcel)(data={"row": str(present.pk)})
    form.is_valid(raise_exception=True)
    assert form.validated_data == {"row": present}


def test_input_of_the_unmasked_id_stays_refused():
    row = moved(Secret)
    assert not accepting(Secret)(data={"row": str(row.pk)}).is_valid()
