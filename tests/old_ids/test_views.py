"""Django's views: a URL with an old id redirects to the one with the present id."""

import uuid

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import override_script_prefix
from django.urls import NoReverseMatch, include, path, register_converter, reverse
from django.views.generic import DeleteView, DetailView, UpdateView

from django_sortable_ids.converters import id_converter
from django_sortable_ids.ids import public_id
from django_sortable_ids.old_ids import RedirectOldIDs
from tests.combinations import in_one_case

from .models import Country, Device, Gift, Parcel, Purchase, Receipt, Secret, Unmoved

pytestmark = pytest.mark.django_db
OLD_UUID = uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c")
OLD = {Purchase: 17, Gift: 17, Parcel: 17, Device: OLD_UUID, Secret: OLD_UUID, Country: "nl"}
client = Client()


class Shown(RedirectOldIDs, DetailView):
    def get_queryset(self):
        return super().get_queryset().exclude(name="hidden")

    def render_to_response(self, context):
        return HttpResponse(context["object"].name)


class Edited(RedirectOldIDs, UpdateView):
    model = Purchase
    fields = ["name"]
    success_url = "/"
    pk_url_kwarg = "number"


class Deleted(RedirectOldIDs, DeleteView):
    model = Purchase
    success_url = "/"
    redirect_permanently = False


class BySlug(RedirectOldIDs, DetailView):
    model = Purchase
    slug_field = "name"


register_converter(id_converter(Purchase), "moved_purchase")
urlpatterns = [
    *(path(f"{model.__name__}/<str:pk>/", Shown.as_view(model=model)) for model in OLD),
    path("edit/<str:shop>/<str:number>/", Edited.as_view(), {"extra": 1}, name="edit"),
    path("delete/<str:pk>/", Deleted.as_view()),
    path("by-slug/<str:slug>/", BySlug.as_view(), name="by-slug"),
    path("two/<int:pk>/", Shown.as_view(model=Purchase), name="two"),
    path("two/<moved_purchase:pk>/", Shown.as_view(model=Purchase), name="two"),
    path("only-numbers/<int:pk>/", Shown.as_view(model=Purchase), name="only-numbers"),
    path("receipts/<str:pk>/", Shown.as_view(model=Receipt), name="receipt"),
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


@in_one_case("model", OLD)
def test_an_old_id_redirects(model):
    row = moved(model)
    old, present = f"/{model.__name__}/{OLD[model]}/", f"/{model.__name__}/{public_id(row)}/"
    for method in (client.get, client.head):
        answer = method(f"{old}?a=1&b=%C3%A9")
        assert (answer.status_code, answer.url) == (301, f"{present}?a=1&b=%C3%A9")
    assert client.get(old, follow=True).content == b"found"
    assert client.get(present).content == b"found"


@in_one_case("model", OLD)
def test_only_a_present_id_that_may_be_an_old_one_needs_a_further_query(
    model, django_assert_num_queries
):
    row = moved(model)
    with django_assert_num_queries(2 if model in (Parcel, Secret, Country) else 1):
        assert client.get(f"/{model.__name__}/{public_id(row)}/").status_code == 200


@in_one_case("model", OLD)
def test_what_is_neither_is_not_found(model, django_assert_max_num_queries):
    moved(model, "hidden")
    for text in (OLD[model], "18", uuid.uuid4(), "x", "%00", "9" * 40):
        with django_assert_max_num_queries(3):
            assert client.get(f"/{model.__name__}/{text}/").status_code == 404, text


def test_another_method_reaches_the_row_at_once():
    row = moved(Purchase)
    assert client.post("/edit/here/17/?a=1", {"name": "changed"}).url == "/"
    row.refresh_from_db()
    assert row.name == "changed"
    assert client.post("/edit/here/18/", {"name": "changed"}).status_code == 404


def test_a_temporary_redirect_of_a_route_without_a_name():
    row = moved(Purchase)
    answer = client.get("/delete/17/")
    assert (answer.status_code, answer.url) == (302, f"/delete/{public_id(row)}/")


def test_a_namespace():
    row = moved(Purchase)
    assert client.get("/app/17/").url == reverse("a:p", args=[public_id(row)])


def test_two_paths_of_one_name():
    row = moved(Purchase)
    assert client.get("/two/17/").url == f"/two/{public_id(row)}/"
    with override_script_prefix("/site/"):
        assert client.get("/two/17/").url == f"/site/two/{public_id(row)}/"
    assert client.get("/two/18/").status_code == 404


def test_a_path_that_only_accepts_numbers_is_a_mistake_of_the_project():
    moved(Purchase)
    for number in (17, 18):
        with pytest.raises(NoReverseMatch):
            client.get(f"/only-numbers/{number}/")


def test_a_path_that_accepts_uuids():
    row = moved(Secret)
    assert client.get(f"/uuids/{OLD_UUID}/").url == f"/uuids/{public_id(row)}/"


def test_a_key_that_is_a_relation():
    purchase = moved(Purchase)
    Receipt.objects.create(purchase=purchase, name="of it")
    assert client.get("/receipts/17/").url == f"/receipts/{public_id(purchase)}/"
    assert client.get("/receipts/17/", follow=True).content == b"of it"


def test_a_view_before_the_move_and_one_without_keys_are_as_always():
    row = Unmoved.objects.create(name="found")
    assert client.get(f"/unmoved/{row.pk}/").content == b"found"
    assert client.get(f"/unmoved/{row.pk + 1}/").status_code == 404
    assert client.get("/by-slug/17/").status_code == 404


def test_a_call_without_a_route_is_404():
    moved(Purchase)
    with pytest.raises(Http404):
        Shown.as_view(model=Purchase)(RequestFactory().get("/"), pk="17")


def test_a_view_without_a_model_is_refused():
    with pytest.raises(ImproperlyConfigured, match="Shown has neither a model nor a queryset"):
        Shown.as_view()
