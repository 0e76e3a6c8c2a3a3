"""Users with masked keys: their mails, and what the checks say of masked ids and of views."""

import re

import pytest
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetView
from django.core import mail
from django.http import HttpResponse
from django.test import Client
from django.urls import include, path
from rest_framework import serializers
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import CursorPagination
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ReadOnlyModelViewSet

from django_sortable_ids.auth import SortableIDPasswordResetForm
from django_sortable_ids.checks.definitions import check_masks
from django_sortable_ids.checks.views import check_views
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.rest_framework import SortableIDCursorPagination
from tests.combinations import in_one_case
from tests.leaks import leaks
from tests.old_ids.models import MaskedUser
from tests.testapp.models import MaskedKey, MaskedPart, ULIDKey

from .test_definitions import define

KEY = "f0debc9a785634121032547698badcfe"


class Plain(PasswordResetView):
    success_url = "/done/"


class Own(Plain):
    form_class = type("OwnForm", (PasswordResetForm,), {})


class Confirm(PasswordResetConfirmView):
    def render_to_response(self, context):
        return HttpResponse("form" if context["validlink"] else "wrong link")


class Quiet(PasswordResetForm):
    """Builds its own links."""

    def send_mail(self, *args, **kwargs):
        pass


class Saves(PasswordResetForm):
    """Sends them itself."""

    def save(self, *args, **kwargs):
        pass


class Covered(Plain):
    """Of a URL that another view answers."""


urlpatterns = [
    path("covered/", Plain.as_view(form_class=SortableIDPasswordResetForm)),
    path("", include([path("covered/", Covered.as_view())])),
    path("", include([path("plain/", Plain.as_view()), path("own/", Own.as_view())])),
    path("reset/", Plain.as_view(form_class=SortableIDPasswordResetForm)),
    path("quiet/", Plain.as_view(form_class=Quiet)),
    path("saves/", Plain.as_view(form_class=Saves)),
    path("set/<uidb64>/<token>/", Confirm.as_view(), name="password_reset_confirm"),
]


@pytest.fixture
def users(settings):
    """A project whose users have masked keys."""
    settings.AUTH_USER_MODEL = MaskedUser._meta.label
    settings.ROOT_URLCONF = __name__
    settings.SORTABLE_IDS = {"MASK_KEYS": [KEY]}
    # Since Django 6.1; without it, its own tests' mailer is deprecated.
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


@pytest.mark.django_db
def test_password_reset_links_name_the_public_text(users, settings, monkeypatch):
    for name in ("forms", "views"):
        monkeypatch.setattr(f"django.contrib.auth.{name}.UserModel", MaskedUser)
    user = MaskedUser(name="ada", email="ada@example.com")
    user.set_password("secret")
    user.save()

    def sent(url):
        mail.outbox.clear()
        assert Client().post(url, {"email": user.email}).status_code == 302
        (message,) = mail.outbox
        return f"{message.subject} {message.body}"

    assert leaks(sent("/plain/"), user.pk)
    text = sent("/reset/")
    assert not leaks(text, user.pk)
    link = re.search("/set/[^ \n]+", text)[0]
    settings.SORTABLE_IDS = {"MASK_KEYS": ["0123456789abcdeffedcba9876543210", KEY]}
    assert Client().get(link, follow=True).content == b"form"


def test_what_the_checks_say_of_the_project(users, settings):
    found = [(message.id, message.msg.split()[3]) for message in check_views()]
    assert found == [("sortable_ids.E010", "Plain"), ("sortable_ids.E010", "Own")]
    assert check_masks() == []
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
    (message,) = check_masks()
    assert (message.id, str(message.obj)) == ("sortable_ids.W005", "old_ids.MaskedUser.id")


def test_masked_ids_need_a_key(settings):
    settings.SORTABLE_IDS = {}
    found = {(message.id, str(message.obj)) for message in check_masks()}
    assert found == {
        ("sortable_ids.E011", "old_ids.MaskedUser.id"),
        ("sortable_ids.E011", "old_ids.Secret.id"),
        ("sortable_ids.E011", "testapp.MaskedKey.id"),
        ("sortable_ids.E011", "testapp.MaskedPart.code"),
    }
    message = check_masks()[0]
    assert f"{message.msg} {message.hint}".count("Generate one with") == 1
    for fine in ({"MASK_KEYS": [KEY]}, {"MASK_KEYS": ["x"]}, 7, {"worker": 1}):  # or E003
        settings.SORTABLE_IDS = fine
        assert check_masks() == []


class Rows(serializers.ModelSerializer):
    class Meta:
        model = MaskedKey
        fields = ("id", "name")


def listing(of, paginator, **attributes):
    attributes = {"pagination_class": paginator, "queryset": of.objects.all()} | attributes
    return type("Listing", (ReadOnlyModelViewSet,), attributes)


def by(*names, of=CursorPagination):
    return type("Pages", (of,), {"ordering": names})


@in_one_case(
    ("view", "warned"),
    [
        (listing(MaskedKey, by("-id")), True),
        (listing(MaskedPart, by("whole", "id")), True),
        (listing(MaskedKey, by("id"), queryset=None, serializer_class=Rows), True),
        (listing(MaskedKey, by("id"), filter_backends=[OrderingFilter]), True),
        (listing(MaskedKey, by("id"), queryset=None), False),
        (listing(ULIDKey, by("name")), False),
        (listing(MaskedKey, by("-id", of=SortableIDCursorPagination)), False),
        (listing(MaskedKey, None), False),
    ],
)
def test_views_whose_cursors_show_masked_ids(settings, view, warned):
    router = SimpleRouter()
    router.register("rows", view, "rows")
    others = [path("reset/", PasswordResetView.as_view()), path("x/", lambda request: None)]
    patterns = [path("api/", include(router.urls)), *others]
    settings.ROOT_URLCONF = type("URLs", (), {"urlpatterns": patterns})
    assert [message.id for message in check_views()] == ["sortable_ids.W006"] * warned


def test_models_without_masked_ids(isolated, settings):
    define("Plain", id=UUIDv7Field(primary_key=True))
    settings.SORTABLE_IDS = {}
    assert check_masks(isolated.get_app_configs()) == []
