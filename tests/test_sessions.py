"""Sessions from before the user model got another key: their visitors are logged out."""

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
    login,
    logout,
)
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import AsyncClient, Client
from django.urls import path

from tests.testapp.models import SnowflakeKey, ULIDKey, UUIDv7Key, around

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
OLD_KEYS = ["5", "1844674407370955161699", "-1", "8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c", "", "é"]


def show(request):
    return HttpResponse(request.user.name if request.user.is_authenticated else "nobody")


async def show_later(request):
    user = await request.auser()
    return HttpResponse(user.name if user.is_authenticated else "nobody")


def enter(request):
    login(request, type(request).user_to_enter, BACKEND)
    return HttpResponse()


def leave(request):
    logout(request)
    return HttpResponse()


urlpatterns = [
    path("", show),
    path("later/", show_later),
    path("enter/", enter),
    path("leave/", leave),
]


@pytest.fixture(params=[UUIDv7Key, ULIDKey, SnowflakeKey], ids=lambda model: model.__name__)
def user(request, settings):
    model = around(request.param, "User")
    settings.AUTH_USER_MODEL = model._meta.label
    settings.ROOT_URLCONF = __name__
    return model.objects.create(name="ada")


@pytest.fixture
def browser():
    """Makes a client whose session has a key."""

    def make(key, client_class=Client):
        client = client_class(raise_request_exception=True)
        session = client.session
        session[SESSION_KEY] = key
        session[BACKEND_SESSION_KEY] = BACKEND
        session[HASH_SESSION_KEY] = "x"
        session.save()
        client.cookies["sessionid"] = session.session_key
        return client

    return make


def page(client, url="/"):
    answer = client.get(url)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_visitor_with_an_old_key_is_logged_out(user, browser):
    for old in OLD_KEYS:
        assert page(browser(old)) == "nobody", old
        assert page(browser(old), "/later/") == "nobody", old


def test_a_visitor_with_an_old_key_is_logged_out_asynchronously(user, browser):
    async def answer(client):
        return (await client.get("/later/")).content

    for old in OLD_KEYS:
        client = browser(old, AsyncClient)
        assert async_to_sync(answer)(client) == b"nobody", old


def test_a_visitor_with_an_old_key_can_log_in_and_out(user, browser, monkeypatch):
    from django.core.handlers.wsgi import WSGIRequest

    monkeypatch.setattr(WSGIRequest, "user_to_enter", user, raising=False)
    for old in OLD_KEYS:
        client = browser(old)
        page(client, "/enter/")
        assert page(client) == "ada", old
        page(client, "/leave/")
        assert page(client) == "nobody", old


def test_a_visitor_with_a_right_key_stays(user):
    client = Client()
    client.force_login(user, BACKEND)
    assert page(client) == "ada"
    assert page(client, "/later/") == "ada"


def test_everybody_else_is_told(user):
    with pytest.raises(ValidationError, match="is not a valid"):
        type(user)._meta.pk.to_python("é")
