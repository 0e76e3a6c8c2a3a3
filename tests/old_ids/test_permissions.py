"""A URL with an old id tells nobody more than that with the present id, whatever way a project
checks who may see the row."""

from functools import wraps

import pytest
from django.contrib.auth.mixins import (
    LoginRequiredMixin,
    UserPassesTestMixin,
)
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.vary import vary_on_headers
from django.views.generic import DetailView, View
from rest_framework import permissions
from rest_framework.authentication import SessionAuthentication
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.ids import public_id
from django_sortable_ids.old_ids import RedirectOldIDs
from django_sortable_ids.rest_framework import SortableIDLookupMixin
from tests.store.api import serializer_for

from .models import Purchase

pytestmark = pytest.mark.django_db


def of(user):
    """A purchase has the name of its owner."""
    return Purchase.objects.filter(name=user.username)


def refuse_others(user, row):
    if row.name != user.username:
        raise PermissionDenied


class Shown:
    model = Purchase

    def render_to_response(self, context):
        return HttpResponse(self.object.name)


class ByQueryset(RedirectOldIDs, LoginRequiredMixin, Shown, DetailView):
    def get_queryset(self):
        return of(self.request.user)


class ByTest(RedirectOldIDs, UserPassesTestMixin, Shown, DetailView):
    def test_func(self):
        return self.get_object().name == self.request.user.username


class CheckedFirst:
    """As guardian's PermissionRequiredMixin."""

    def dispatch(self, request, *args, **kwargs):
        refuse_others(request.user, self.get_object())
        return super().dispatch(request, *args, **kwargs)


class ByMixin(RedirectOldIDs, CheckedFirst, Shown, DetailView):
    pass


class OfAnyView(RedirectOldIDs, View):
    model = Purchase

    def get(self, request, pk):
        refuse_others(request.user, row := get_object_or_404(Purchase, pk=pk))
        return HttpResponse(row.name)


def refuses_others(view):
    @wraps(view)
    def checked(request, pk):
        row = Purchase.objects.filter(pk=pk).first()
        if row and row.name != request.user.username:
            raise PermissionDenied
        return view(request, pk=pk)

    return checked


@method_decorator([never_cache, vary_on_headers("Accept"), refuses_others], name="dispatch")
class ByDecorator(RedirectOldIDs, Shown, DetailView):
    pass


class Public(RedirectOldIDs, Shown, DetailView):
    pass


VIEWS = {
    each.__name__: each.as_view()
    for each in (*(ByQueryset, ByTest, ByMixin, OfAnyView, ByDecorator),)
} | {"DecoratedOutside": refuses_others(Public.as_view())}


class IsOwner(permissions.IsAuthenticated):
    def has_object_permission(self, request, view, obj):
        return obj.name == request.user.username


class API(SortableIDLookupMixin, ModelViewSet):
    queryset = Purchase.objects.all()
    serializer_class = serializer_for(Purchase, "name")
    authentication_classes = (SessionAuthentication,)


class APIByPermission(RedirectOldIDs, API):
    permission_classes = (IsOwner,)


class APIByQueryset(RedirectOldIDs, API):
    permission_classes = (permissions.IsAuthenticated,)

    def get_queryset(self):
        return of(self.request.user)


APIS = (APIByPermission, APIByQueryset)
router = SimpleRouter()
for each in APIS:
    router.register(each.__name__, each, basename=each.__name__)
urlpatterns = [
    path("", include(router.urls)),
    *(path(f"{name}/<str:pk>/", view) for name, view in VIEWS.items()),
    path("login/", lambda request: HttpResponse(), name="login"),
]


def answer_to(client, method, url):
    """What the visitor sees of the answer, without the id of the URL; and its queries."""
    with CaptureQueriesContext(connection) as queries:
        answer = getattr(client, method)(url)
    seen = (answer.status_code, answer.get("Location", ""), answer.content.decode())
    return tuple(str(each).replace(url, "URL") for each in seen), len(queries)


@pytest.mark.parametrize("view", [*VIEWS, *(each.__name__ for each in APIS)])
def test_an_old_id_answers_as_the_present_one(view, settings):
    settings.ROOT_URLCONF, settings.LOGIN_URL = __name__, "login"
    present = f"/{view}/{public_id(Purchase.objects.create(name='owner', old_id=17))}/"
    for visitor in ("owner", "other", None):
        client = Client()
        if visitor:
            client.force_login(User.objects.create(username=visitor))
        assert_the_same(client, view, present, visitor)


def assert_the_same(client, view, present, visitor):
    nobodys = f"/{view}/{public_id(Purchase())}/"
    methods = ["get", "head", "post", "options", *(["patch"] if view.startswith("API") else [])]
    for method in methods:
        of_present, queries_of_present = answer_to(client, method, present)
        of_old, queries_of_old = answer_to(client, method, f"/{view}/17/")
        of_missing, queries_of_missing = answer_to(client, method, f"/{view}/18/")
        if method in ("get", "head"):
            assert of_missing == answer_to(client, method, nobodys)[0]
            assert (of_present[0] == "200") == (visitor == "owner")
            if visitor == "owner":
                assert of_old == ("301", present, "")
                continue
            if of_present == of_missing:  # nobody can tell a hidden row by the time that it takes
                assert queries_of_old == queries_of_missing == queries_of_present + 1
        assert of_old == of_present, method


def test_the_redirect_is_cached_no_longer_than_the_page(settings):
    settings.ROOT_URLCONF = __name__
    Purchase.objects.create(old_id=17)
    client = Client()
    client.force_login(User.objects.create(username="nobody"))
    Purchase.objects.update(name="nobody")
    answer = client.get("/ByDecorator/17/")
    assert answer.status_code == 301
    assert "no-store" in answer.headers["Cache-Control"]
    assert "Accept" in answer.headers["Vary"]
