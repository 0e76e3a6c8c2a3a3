"""Django's views: a URL with an old id redirects to the one with the present id."""

import uuid

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.mixins import LoginRequiredMixin, UserPassesTestMixin
from django.http import HttpResponse
from django.test import AsyncClient, Client, RequestFactory
from django.urls import NoReverseMatch, include, path, register_converter, reverse
from django.views.generic import DeleteView, DetailView, UpdateView

from django_sortable_ids.converters import id_converter
from django_sortable_ids.ids import public_id
from django_sortable_ids.views import HasOldID, RedirectOldIDs
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


class Restricted(RedirectOldIDs, LoginRequiredMixin, DetailView):
    model = Purchase


class OnlyAllowed(RedirectOldIDs, UserPassesTestMixin, DetailView):
    model = Purchase

    def test_func(self):
        return self.get_object().name == "allowed"


class Outside(UserPassesTestMixin, RedirectOldIDs, DetailView):
    """In the wrong order."""

    model = Purchase

    def test_func(self):
        return self.get_object() is not None


class Later(RedirectOldIDs, DetailView):
    model = Purchase

    async def get(self, request, *args, **kwargs):
        return HttpResponse((await sync_to_async(self.get_object)()).name)


class BySlug(RedirectOldIDs, DetailView):
    model = Purchase
    slug_field = "name"


def converter_of(model):
    return f"moved_{model._meta.model_name}"


for model in OLD:
    register_converter(id_converter(model, accept_old=True), converter_of(model))
shown = [
    (f"{kind}-{model._meta.model_name}", converter, model)
    for model in OLD
    for kind, converter in (("str", "str"), ("own", converter_of(model)))
]
urlpatterns = [
    *(
        path(f"{name}/<{of}:pk>/", Shown.as_view(model=model), name=name)
        for name, of, model in shown
    ),
    path("edit/<str:shop>/<str:number>/", Edited.as_view(), {"extra": 1}, name="edit"),
    path("delete/<str:pk>/", Deleted.as_view()),
    path("restricted/<str:pk>/", Restricted.as_view(), name="restricted"),
    path("tested/<str:pk>/", OnlyAllowed.as_view(), name="tested"),
    path("outside/<str:pk>/", Outside.as_view(), name="outside"),
    path("later/<str:pk>/", Later.as_view(), name="later"),
    path("by-slug/<str:slug>/", BySlug.as_view(), name="by-slug"),
    path("two/<int:pk>/", Shown.as_view(model=Purchase), name="two"),
    path(f"two/<{converter_of(Purchase)}:pk>/", Shown.as_view(model=Purchase), name="two"),
    path("only-numbers/<int:pk>/", Shown.as_view(model=Purchase), name="only-numbers"),
    path("receipts/<str:pk>/", Shown.as_view(model=Receipt), name="receipt"),
    path("unmoved/<str:pk>/", Shown.as_view(model=Unmoved), name="unmoved"),
    path("uuids/<uuid:pk>/", Shown.as_view(model=Secret), name="uuid"),
    path(
        "app/", include(([path("<str:pk>/", Shown.as_view(model=Purchase), name="p")], "app"), "a")
    ),
    path("login/", Shown.as_view(), name="login"),
]


@pytest.fixture(autouse=True)
def urls(settings):
    settings.ROOT_URLCONF = __name__
    settings.LOGIN_URL = "login"


def moved(model, name="found", **values):
    old = f"old_{model._meta.pk.name if model is not Gift else 'id'}"
    return model.objects.create(name=name, **{old: OLD[model]}, **values)


@in_one_case(("name", "converter", "model"), shown)
def test_an_old_id_redirects(name, converter, model, django_assert_num_queries):
    row = moved(model)
    present = f"/{name}/{public_id(row)}/"
    for method in (client.get, client.head):
        answer = method(f"/{name}/{OLD[model]}/?a=1&b=%C3%A9", follow=False)
        assert (answer.status_code, answer.url) == (301, f"{present}?a=1&b=%C3%A9")
    assert client.get(f"/{name}/{OLD[model]}/", follow=True).content == b"found"
    assert client.get(present).content == b"found"


@in_one_case("model", OLD)
def test_a_present_id_needs_no_further_query(model, django_assert_num_queries):
    row = moved(model)
    with django_assert_num_queries(1):
        assert client.get(f"/str-{model._meta.model_name}/{public_id(row)}/").status_code == 200


@in_one_case(("name", "converter", "model"), shown)
def test_what_is_neither_is_not_found(name, converter, model, django_assert_max_num_queries):
    moved(model, "hidden")
    for text in (OLD[model], "18", uuid.uuid4(), "x", "%00", "9" * 40):
        with django_assert_max_num_queries(3):
            assert client.get(f"/{name}/{text}/").status_code == 404, text


def test_another_method_keeps_its_body():
    row = moved(Purchase)
    answer = client.post("/edit/here/17/?a=1", {"name": "changed"})
    assert (answer.status_code, answer.url) == (308, f"/edit/here/{public_id(row)}/?a=1")
    client.post("/edit/here/17/", {"name": "changed"}, follow=True)
    row.refresh_from_db()
    assert row.name == "changed"


def test_a_temporary_redirect_of_a_route_without_a_name():
    row = moved(Purchase)
    answer = client.get("/delete/17/")
    assert (answer.status_code, answer.url) == (302, f"/delete/{public_id(row)}/")
    answer = client.post("/delete/17/")
    assert (answer.status_code, answer.url) == (307, f"/delete/{public_id(row)}/")
    assert Purchase.objects.exists()


def test_a_view_that_refuses_the_visitor_tells_nothing():
    moved(Purchase)
    assert client.get("/restricted/17/").url == "/login/?next=/restricted/17/"


def test_a_view_that_looks_at_the_row_first():
    row = moved(Purchase, "allowed")
    assert client.get("/tested/17/").url == f"/tested/{public_id(row)}/"
    assert client.get("/outside/17/").status_code == 404


def test_an_asynchronous_view():
    async def get(text):
        return await AsyncClient().get(f"/later/{text}/")

    row = moved(Purchase)
    assert async_to_sync(get)("17").url == f"/later/{public_id(row)}/"
    assert async_to_sync(get)(public_id(row)).content == b"found"


def test_a_namespace():
    row = moved(Purchase)
    assert client.get("/app/17/").url == reverse("a:p", args=[public_id(row)])


def test_two_paths_of_one_name():
    row = moved(Purchase)
    assert client.get("/two/17/").url == f"/two/{public_id(row)}/"


def test_a_path_that_only_accepts_numbers_is_a_mistake_of_the_project():
    moved(Purchase)
    with pytest.raises(NoReverseMatch):
        client.get("/only-numbers/17/")


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
    with pytest.raises(HasOldID):
        Restricted.get_object(_view(Restricted, "17"))
    with pytest.raises(HasOldID):
        Shown.as_view(model=Purchase)(RequestFactory().get("/"), pk="17")


def _view(view_class, text):
    view = view_class()
    view.setup(RequestFactory().get("/"), pk=text)
    return view
