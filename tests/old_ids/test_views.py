"""Views of Django and of REST: a URL with an old id redirects to the one with the present id."""

import io
import uuid

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import FileResponse, HttpResponse
from django.test import Client
from django.test.utils import override_script_prefix
from django.urls import include, path, register_converter, reverse
from django.views.decorators.cache import cache_page
from django.views.generic import DetailView, UpdateView
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import RetrieveAPIView
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.test import APIClient
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.ids import id_converter, public_id
from django_sortable_ids.old_ids import RedirectOldIDs
from django_sortable_ids.rest_framework import SortableIDLookupMixin
from tests.combinations import in_one_case
from tests.store.api import serializer_for, viewset_for

from .models import (
    Country,
    Device,
    Gift,
    HiddenPurchase,
    Parcel,
    Purchase,
    Receipt,
    Secret,
    Unmoved,
)

pytestmark = pytest.mark.django_db
OLD_UUID = uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c")
OLD = {Purchase: 17, Gift: 17, Parcel: 17, Device: OLD_UUID, Secret: OLD_UUID, Country: "nl"}
client, api = Client(), APIClient()


class Shown(RedirectOldIDs, DetailView):
    def get_queryset(self):
        return super().get_queryset().exclude(name="hidden")

    def render_to_response(self, context):
        return HttpResponse(context["object"].name)


class Downloaded(Shown):
    queryset = HiddenPurchase._base_manager.all()
    file = io.BytesIO()

    def render_to_response(self, context):
        return FileResponse(self.file)


class Edited(RedirectOldIDs, UpdateView):
    model = Purchase
    fields = ["name"]
    success_url = "/"
    pk_url_kwarg = "number"


class BySlug(RedirectOldIDs, DetailView):
    model = Purchase
    slug_field = "name"


class OnlyVisible(BaseFilterBackend):
    def filter_queryset(self, request, queryset, view):
        return queryset.exclude(name="hidden")


def moved_view(model, *bases, **attributes):
    serializer = serializer_for(model, "name")
    return viewset_for(serializer, RedirectOldIDs, *(bases or [ModelViewSet]), **attributes)


class Retrieved(RedirectOldIDs, RetrieveAPIView):
    queryset = Purchase.objects.all()
    serializer_class = serializer_for(Purchase, "name")
    lookup_url_kwarg = "number"


router, formats = SimpleRouter(), DefaultRouter()
for each in OLD:
    for kind, bases in (("strict", [SortableIDLookupMixin, ModelViewSet]), ("plain", [])):
        view = moved_view(each, *bases, filter_backends=[OnlyVisible])
        router.register(f"{kind}/{each.__name__}", view, basename=f"{kind}-{each.__name__}")
router.register("unmoved-api", moved_view(Unmoved), basename="unmoved-api")
router.register("names", moved_view(Purchase, lookup_field="name"), basename="names")
router.register("keys", moved_view(Purchase, lookup_field="id"), basename="keys")
formats.register("purchases", moved_view(Purchase), basename="purchase")
KINDS = ("view", "strict", "plain")
"""Django's view, and one of REST with and without the mixin that takes public texts only."""

register_converter(id_converter(Purchase), "moved_purchase")
urlpatterns = [
    *(path(f"view/{model.__name__}/<str:pk>/", Shown.as_view(model=model)) for model in OLD),
    path("", include(router.urls)),
    path("formats/", include((formats.urls, "formats"), "v1")),
    path("shops/<str:shop>/<str:number>/", Retrieved.as_view()),
    path("files/<str:pk>/", Downloaded.as_view()),
    path("edit/<str:shop>/<str:number>/", Edited.as_view(), {"extra": 1}, name="edit"),
    path("by-slug/<str:slug>/", BySlug.as_view(), name="by-slug"),
    path("two/<int:pk>/", Shown.as_view(model=Purchase), name="two"),
    path("two/<moved_purchase:pk>/", Shown.as_view(model=Purchase), name="two"),
    path("receipts/<str:pk>/", Shown.as_view(model=Receipt), name="receipt"),
    path("cached/<str:pk>/", cache_page(60)(Shown.as_view(model=Purchase))),
    path("unmoved/<str:pk>/", Shown.as_view(model=Unmoved), name="unmoved"),
    path("uuids/<uuid:pk>/", Shown.as_view(model=Secret), name="uuid"),
    path(
        "app/", include(([path("<str:pk>/", Shown.as_view(model=Purchase), name="p")], "app"), "a")
    ),
]


@pytest.fixture(autouse=True)
def urls(settings):
    settings.ROOT_URLCONF = __name__


def moved(model, name="found", **values):
    old = f"old_{model._meta.pk.name if model is not Gift else 'id'}"
    return model.objects.create(name=name, **{old: OLD[model]}, **values)


@in_one_case(("kind", "model"), [(kind, model) for kind in KINDS for model in OLD])
def test_an_old_id_redirects(kind, model):
    row, url = moved(model), f"/{kind}/{model.__name__}"
    for method in (client.get, client.head):
        answer = method(f"{url}/{OLD[model]}/?a=1&b=%C3%A9")
        present = f"{url}/{public_id(row)}/"
        assert (answer.status_code, answer.url) == (301, f"{present}?a=1&b=%C3%A9")
    for shown in (client.get(f"{url}/{OLD[model]}/", follow=True), client.get(present)):
        assert shown.content in (b"found", b'{"name":"found"}')


def test_a_cached_page_of_a_present_id_is_no_answer_for_the_old_one():
    row = moved(Purchase)
    for _ in range(2):
        assert client.get("/cached/17/").status_code == 301
    present = f"/cached/{public_id(row)}/"
    assert client.get(present).content == b"found"
    Purchase.objects.update(name="changed")
    assert client.get(present).content == b"found"


@in_one_case(
    ("kind", "model"), [*(("view", model) for model in OLD), ("strict", Purchase), ("strict", Gift)]
)
def test_only_a_present_id_that_may_be_an_old_one_needs_a_further_query(
    kind, model, django_assert_num_queries
):
    row = moved(model)
    with django_assert_num_queries(2 if model in (Parcel, Secret, Country) else 1):
        assert client.get(f"/{kind}/{model.__name__}/{public_id(row)}/").status_code == 200


@in_one_case(("kind", "model"), [(kind, model) for kind in ("view", "strict") for model in OLD])
def test_what_is_neither_is_not_found(kind, model, django_assert_max_num_queries):
    moved(model, "hidden")
    for text in (OLD[model], "18", uuid.uuid4(), OLD_UUID.hex, "x", "%00", "9" * 40):
        with django_assert_max_num_queries(3):
            assert client.get(f"/{kind}/{model.__name__}/{text}/").status_code == 404, text


def test_another_method_reaches_the_row_at_once():
    row = moved(Purchase)
    assert client.post("/edit/here/17/?a=1", {"name": "changed"}).url == "/"
    row.refresh_from_db()
    assert row.name == "changed"
    assert client.post("/edit/here/18/", {"name": "changed"}).status_code == 404
    answer = api.patch("/strict/Purchase/17/", {"name": "again"}, format="json")
    assert answer.json() == {"name": "again"}
    row.refresh_from_db()
    assert row.name == "again"
    assert api.delete("/strict/Purchase/18/").status_code == 404
    assert api.delete("/strict/Purchase/17/").status_code == 204
    assert not Purchase.objects.exists()


def test_routes_with_a_namespace_formats_other_arguments_and_without_a_name():
    row = public_id(moved(Purchase))
    assert client.get("/app/17/").url == reverse("a:p", args=[row])
    assert client.get("/formats/purchases/17.json").url == f"/formats/purchases/{row}.json"
    answer = client.get("/formats/purchases/17/", headers={"accept": "text/html"})
    assert answer.url == f"/formats/purchases/{row}/"
    assert client.get("/shops/here/17/").url == f"/shops/here/{row}/"


def test_two_paths_of_one_name():
    row = moved(Purchase)
    assert client.get("/two/17/").url == f"/two/{public_id(row)}/"
    with override_script_prefix("/site/"):
        assert client.get("/two/17/").url == f"/site/two/{public_id(row)}/"
    assert client.get("/two/18/").status_code == 404


def test_a_view_of_rows_that_the_default_manager_hides_closes_its_file():
    assert client.get("/files/17/").status_code == 404
    row = moved(Purchase)
    assert client.get("/files/17/").url == f"/files/{public_id(row)}/"
    assert Downloaded.file.closed


def test_a_view_before_the_move_and_other_lookups_are_as_always():
    row, unmoved = moved(Purchase), Unmoved.objects.create(name="found")
    for start in ("unmoved", "unmoved-api"):
        shown = client.get(f"/{start}/{unmoved.pk}/")
        assert shown.content in (b"found", b'{"name":"found"}')
        assert client.get(f"/{start}/{unmoved.pk + 1}/").status_code == 404
    assert client.get("/by-slug/17/").status_code == 404
    assert client.get("/names/found/").json() == {"name": "found"}
    assert client.get("/names/17/").status_code == 404
    assert client.get("/keys/17/").url == f"/keys/{public_id(row)}/"


def test_a_view_without_a_model_is_refused():
    with pytest.raises(ImproperlyConfigured, match="Shown has neither a model nor a queryset"):
        Shown.as_view()


def test_an_async_view_is_refused():
    class Later(Shown):
        async def get(self, request, pk):
            """Answers later."""

    with pytest.raises(ImproperlyConfigured, match="Later is async, and RedirectOldIDs is not"):
        Later.as_view(model=Purchase)
