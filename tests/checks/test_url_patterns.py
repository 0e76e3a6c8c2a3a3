"""URLs of detail views that accept only numbers, for models whose ids are no numbers."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory
from django.urls import include, path, re_path, register_converter
from django.urls.converters import IntConverter
from django.views import generic
from django.views.generic.detail import SingleObjectMixin
from rest_framework import generics
from rest_framework.decorators import action
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.checks.views import check_views
from django_sortable_ids.old_ids import RedirectOldIDs
from django_sortable_ids.rest_framework import SortableIDLookupMixin
from tests.old_ids.models import Purchase
from tests.testapp.models import Order, SnowflakeKey, TSIDKey, ULIDKey, UUIDv7Key


class Positive(IntConverter):
    regex = "[1-9][0-9]*"


register_converter(Positive, "positive")


class Detail(generic.DetailView):
    model = UUIDv7Key


class Update(generic.UpdateView):
    queryset = ULIDKey.objects.all()
    fields = ("name",)
    pk_url_kwarg = "key"


class Delete(generic.DeleteView):
    model = UUIDv7Key


class Create(generic.CreateView):
    model = UUIDv7Key
    fields = ("name",)


class ListOfParent(SingleObjectMixin, generic.ListView):
    model = UUIDv7Key


class Own(generic.DetailView):
    model = UUIDv7Key

    def get_object(self, queryset=None):
        return UUIDv7Key.objects.first()


class Hidden(generic.DetailView):
    def get_queryset(self):
        return UUIDv7Key.objects.all()


class Number(generic.DetailView):
    model = SnowflakeKey


class Retrieve(generics.RetrieveAPIView):
    queryset = ULIDKey.objects.all()


class Listing(generics.ListCreateAPIView):
    queryset = ULIDKey.objects.all()


class Keys(ModelViewSet):
    queryset = UUIDv7Key.objects.all()
    lookup_value_regex = r"\d+"

    @action(detail=True)
    def part(self, request, pk):
        """Another detail page."""

    @action(detail=False)
    def sum(self, request):
        """Another list."""

    @action(detail=False, url_path=r"pages/(?P<pk>\d+)")
    def page(self, request, pk):
        """A list, whose number is that of a page."""


class Strict(SortableIDLookupMixin, ModelViewSet):
    queryset = UUIDv7Key.objects.all()
    lookup_value_converter = "int"
    lookup_url_kwarg = "id"


class OwnRest(generics.RetrieveAPIView):
    queryset = ULIDKey.objects.all()

    def get_object(self):
        return ULIDKey.objects.first()


def function(request, pk):
    """A view that shows no model."""


def found(settings, *patterns):
    settings.ROOT_URLCONF = type("URLs", (), {"urlpatterns": list(patterns)})
    return [(each.obj.__name__, each.msg.split("'")[1]) for each in check_views()]


@pytest.mark.parametrize(
    "pattern",
    [
        path("<int:pk>/", Detail.as_view()),
        path("<positive:pk>/", Detail.as_view()),
        path("<int:key>/", Update.as_view()),
        path("<int:pk>/", Delete.as_view()),
        path("<int:id>/", Detail.as_view(pk_url_kwarg="id")),
        path("<int:pk>/", generic.DetailView.as_view(model=ULIDKey)),
        path("<int:slug>/", Detail.as_view(slug_field="id")),
        path("<int:pk>/", include([path("edit/", Detail.as_view())])),
        re_path(r"^(?P<name>[\w-]+)_(?P<pk>-?\d+)/$", Detail.as_view()),
        re_path(r"^(?P<pk>(\d{1,5}|\d{7}))/$", Detail.as_view()),
        path("100%/<int:pk>/", Detail.as_view()),
        path("<int:pk>/", Retrieve.as_view()),
    ],
)
def test_a_url_that_accepts_only_numbers(settings, pattern):
    assert len(found(settings, pattern)) == 1


@pytest.mark.parametrize(
    "pattern",
    [
        path("<str:pk>/", Detail.as_view()),
        path("<uuid:pk>/", Detail.as_view()),
        path("<slug:pk>/", Detail.as_view()),
        re_path(r"^(?P<pk>[0-9a-f]{32})/$", Detail.as_view()),
        re_path(r"^(?P<pk>[0-9a-z]{26})/$", Detail.as_view()),
        re_path(r"^([0-9]+)/$", Detail.as_view()),
        path("<int:page>/", Detail.as_view()),
        path("<int:pk>/", Create.as_view()),
        path("<int:pk>/", ListOfParent.as_view()),
        path("<int:pk>/", Own.as_view()),
        path("<int:pk>/", Hidden.as_view()),
        path("<int:pk>/", Number.as_view()),
        path("<int:pk>/", function),
        path("<int:pk>/", Listing.as_view()),
        path("<int:pk>/", OwnRest.as_view()),
        path("<int:pk>/", Keys.as_view({"get": "list"})),
        path("<int:id>/", Strict.as_view({"get": "retrieve"})),
    ],
)
def test_urls_that_are_right_or_whose_model_is_unknown(settings, pattern):
    assert found(settings, pattern) == []


def test_viewsets_of_a_router(settings):
    router = SimpleRouter()
    router.register("keys", Keys)
    assert found(settings, path("api/", include(router.urls))) == [
        ("Keys", r"api/^keys/(?P<pk>\d+)/$"),
        ("Keys", r"api/^keys/(?P<pk>\d+)/part/$"),
    ]
    router = SimpleRouter(use_regex_path=False)
    router.register("strict", Strict)
    assert found(settings, path("api/", include(router.urls))) == [
        ("Strict", "api/strict/<int:id>/")
    ]


@pytest.mark.parametrize(("bases", "wrong"), [((SortableIDLookupMixin,), True), ((), False)])
def test_numbers_that_are_no_public_texts(settings, bases, wrong):
    """The mixin takes public texts alone, a plain view the bare number as well."""
    attributes = {"queryset": TSIDKey.objects.all()}
    view = type("Numbers", (*bases, generics.RetrieveAPIView), attributes)
    reported = [("Numbers", "<int:pk>/")] if wrong else []
    assert found(settings, path("<int:pk>/", view.as_view())) == reported


class Forgotten(SortableIDLookupMixin, ModelViewSet):
    queryset = Order.objects.all()


def test_a_viewset_without_the_lookup_field_that_its_mixin_needs(settings):
    router = SimpleRouter()
    router.register("orders", Forgotten)
    router.register("by-id", type("ByID", (Forgotten,), {"lookup_field": "uuid7"}), "by-id")
    plain = type("Plain", (ModelViewSet,), {"queryset": Order.objects.all()})
    router.register("plain", plain, "plain")
    settings.ROOT_URLCONF = type("URLs", (), {"urlpatterns": router.urls})
    (message,) = check_views()
    assert (message.id, message.obj) == ("sortable_ids.E020", Forgotten)
    view = Forgotten.as_view({"get": "retrieve"})
    with pytest.raises(ImproperlyConfigured) as error:
        view(RequestFactory().get("/"), pk="1")
    assert message.msg == f"{error.value}."


Moved = type("Moved", (RedirectOldIDs, generic.DetailView), {"model": Purchase})


@pytest.mark.parametrize(
    ("view", "key", "takes_numbers"),
    [(Detail, UUIDv7Key._meta.pk, False), (Moved, Purchase._meta.pk, True)],
)
def test_the_warning_says_what_to_do(settings, view, key, takes_numbers):
    """The pattern takes old ids, for which a view may redirect."""
    settings.ROOT_URLCONF = type("URLs", (), {"urlpatterns": [path("<int:pk>/", view.as_view())]})
    (message,) = check_views()
    assert message.id == "sortable_ids.W007"
    assert f"{key} has ids such as" in message.msg
    assert "'<str:pk>'" in message.hint
    pattern = re.search(r"'(\(\?P<pk>.*?\))' in re_path", message.hint)[1]
    assert found(settings, re_path(f"^{pattern}/$", view.as_view())) == []
    texts = [key.public_text.example, "17", "about-us"]
    matches = [bool(re.match(f"^{pattern}/$", f"{each}/")) for each in texts]
    assert matches == [True, takes_numbers, False]


def test_a_project_without_urls(settings):
    settings.ROOT_URLCONF = None
    assert check_views() == []
