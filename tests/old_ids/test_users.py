"""Sessions and password resets from before and after the move of the user's key, on Django's own
authentication: with the middleware visitors stay, without it they are logged out.
"""

import uuid

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
    get_user_model,
    login,
    logout,
)
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import connection
from django.http import HttpResponse
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.urls import path
from django.utils.encoding import force_bytes
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlsafe_base64_encode

from django_sortable_ids.auth import OldIDTokenGenerator, SortableIDPasswordResetConfirmView
from django_sortable_ids.ids import public_id
from tests.combinations import in_one_case
from tests.testapp.models import SnowflakeKey, ULIDKey, UUIDv7Key, around

from .models import IntegerUser, MaskedUser, MovedUser, NumberedUser

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django_sortable_ids.auth.OldUserIDMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
OLD = {
    MovedUser: 17,
    NumberedUser: 17,
    MaskedUser: uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c"),
}
"""The user models after the move, with an old key."""


def show(request):
    return HttpResponse(request.user.name if request.user.is_authenticated else "nobody")


async def show_later(request):
    user = await request.auser()
    return HttpResponse(user.name if user.is_authenticated else "nobody")


def leave(request):
    logout(request)
    return HttpResponse()


def enter(request):
    login(request, get_user_model().objects.get(name="ada"), BACKEND)
    return HttpResponse()


class Form:
    """Sets the password; the view asks for no more."""

    def __init__(self, user, data=None, **options):
        self.user, self.data = user, data

    def is_valid(self):
        return bool(self.data)

    def save(self):
        self.user.set_password(self.data["password"])
        self.user.save()
        return self.user


class Page:
    form_class = Form
    success_url = "/done/"

    def render_to_response(self, context):
        return HttpResponse("form" if context["validlink"] else "wrong link")


class Confirm(Page, SortableIDPasswordResetConfirmView):
    pass


class Usual(Page, PasswordResetConfirmView):
    pass


urlpatterns = [
    path("", show),
    path("later/", show_later),
    path("leave/", leave),
    path("enter/", enter),
    path("open/", lambda request: HttpResponse("open")),
    path("reset/<uidb64>/<token>/", Confirm.as_view()),
    path("usual/<uidb64>/<token>/", Usual.as_view()),
]


@pytest.fixture
def ada(settings, monkeypatch):
    """Makes a user of the model that the project then has."""

    def make(model, **values):
        settings.AUTH_USER_MODEL = model._meta.label
        monkeypatch.setattr("django.contrib.auth.views.UserModel", model)
        settings.ROOT_URLCONF = __name__
        settings.MIDDLEWARE = MIDDLEWARE
        user = model(name="ada", **values)
        user.set_password("secret")
        user.save()
        return user

    return make


def logged_in(client_class=Client):
    client = client_class()
    assert client.login(name="ada", password="secret")
    return client


def change(client, key):
    """What the session held when the user's key was another one."""
    session = client.session
    session[SESSION_KEY] = key
    session.save()


def page(client, url="/"):
    answer = client.get(url)
    assert answer.status_code == 200
    return answer.content.decode()


@in_one_case(("model", "old"), OLD.items())
def test_a_visitor_with_an_old_key_stays_logged_in(model, old, ada):
    user = ada(model, old_id=old)
    for url in ("/", "/later/"):
        client = logged_in()
        before = dict(client.session)
        change(client, str(old))
        assert page(client, url) == "ada"
        after = dict(client.session)
        assert after[SESSION_KEY] == str(user.pk)
        assert after[HASH_SESSION_KEY] == before[HASH_SESSION_KEY]
        assert after[BACKEND_SESSION_KEY] == before[BACKEND_SESSION_KEY]
        assert page(client) == "ada"


async def later(client):
    return (await client.get("/later/")).content


def test_asynchronously(ada):
    ada(MovedUser, old_id=17)
    client = logged_in(AsyncClient)
    change(client, "17")
    assert async_to_sync(later)(client) == b"ada"


@in_one_case("model", [*OLD, IntegerUser])
def test_a_present_key_needs_no_query(model, ada, settings):
    ada(model)
    counts = []
    for middleware in (MIDDLEWARE, [MIDDLEWARE[0], MIDDLEWARE[2]]):
        settings.MIDDLEWARE = middleware
        client = logged_in()
        page(client)
        with CaptureQueriesContext(connection) as queries:
            assert page(client) == "ada"
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_id_that_the_key_refuses_ends_the_session(ada):
    """As after a move was undone."""
    ada(IntegerUser)
    for wrong in ("01900000-0000-7000-8000-000000000001", "x", "", "9" * 30):
        client = logged_in()
        change(client, wrong)
        assert page(client) == "nobody", wrong
        assert not client.session.keys()


def test_channels_reads_a_session_by_a_function_of_its_own():
    read = {"__name__": "channels.auth"}
    exec("def _get_user_session_key(key, text): return key.to_python(text)", read)
    assert read["_get_user_session_key"](MovedUser._meta.pk, "17") is None


@in_one_case(("model", "old"), OLD.items())
def test_the_old_key_of_nobody(model, old, ada):
    ada(model, old_id=None)
    client = logged_in()
    change(client, str(old))
    assert page(client) == page(client, "/later/") == "nobody"


def test_an_old_key_that_is_now_the_key_of_another_user(ada):
    """Their sessions have the hash of another password."""
    user = ada(NumberedUser)
    client = logged_in()
    other = NumberedUser(name="other", old_id=user.pk)
    other.set_password("another secret")
    other.save()
    assert page(client) == "ada"
    change(client, str(other.pk))
    assert page(client) == "nobody"


def test_a_changed_password_still_ends_an_old_session(ada):
    user = ada(MovedUser, old_id=17)
    client = logged_in()
    change(client, "17")
    user.set_password("another secret")
    user.save()
    assert page(client) == "nobody"


def test_a_page_without_a_user_is_as_before(ada, settings):
    ada(MovedUser, old_id=17)
    client = logged_in()
    with CaptureQueriesContext(connection) as queries:
        assert "Vary" not in Client().get("/open/").headers
    assert not queries
    assert "Vary" not in client.get("/open/").headers
    change(client, "17")
    assert client.get("/open/").headers["Vary"] == "Cookie"
    assert "Vary" in client.get("/").headers
    del client.cookies[settings.SESSION_COOKIE_NAME]
    assert page(client) == "nobody"


def test_the_wrong_order_is_told_to_everybody(ada, settings):
    ada(MovedUser)
    settings.MIDDLEWARE = [MIDDLEWARE[1], MIDDLEWARE[0], MIDDLEWARE[2]]
    with pytest.raises(ImproperlyConfigured, match="before SessionMiddleware"):
        Client().get("/open/")


# Links in mails from before the move of the user's key


def link(user, key, text=None):
    """What Django sent to the user when ``key`` was the primary key."""
    before = type(user)(name=user.name, password=user.password)
    before.pk = key
    token = default_token_generator.make_token(before)
    return f"{urlsafe_base64_encode(force_bytes(text or key))}/{token}/"


def followed(url):
    return Client().get(url, follow=True).content.decode()


@in_one_case(("model", "old"), OLD.items())
def test_a_link_from_before_the_move_sets_the_password(model, old, ada):
    user = ada(model, old_id=old)
    url = link(user, old)
    assert followed(f"/usual/{url}") == "wrong link"
    client = Client()
    form = client.get(f"/reset/{url}", follow=True)
    assert form.content == b"form"
    assert client.post(form.request["PATH_INFO"], {"password": "new"}).url == "/done/"
    lazy, token = SimpleLazyObject(lambda: user), url.split("/")[1]
    assert OldIDTokenGenerator().check_token(lazy, token)
    user.refresh_from_db()
    assert user.check_password("new")
    assert followed(f"/reset/{url}") == "wrong link"


@in_one_case("model", [*OLD, IntegerUser])
def test_a_link_of_now(model, ada):
    user = ada(model)
    assert followed(f"/reset/{link(user, user.pk)}") == "form"
    if model is MaskedUser:
        assert followed(f"/reset/{link(user, user.pk, public_id(user))}") == "form"


@in_one_case(("model", "old"), OLD.items())
def test_a_wrong_link(model, old, ada, settings):
    user = ada(model, old_id=old)
    other = model(name="other", password=user.password)
    other.save()
    for wrong in (link(other, old, other.pk), link(user, old, "18"), link(user, 18, old)):
        assert followed(f"/reset/{wrong}") == "wrong link", wrong
    for uid in ("", "x", "é", "%ff", "_w"):
        assert followed(f"/reset/{uid or 'MA'}/c-x/") == "wrong link"
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert followed(f"/reset/{link(user, old)}") == "wrong link"


# Keys of every type, without the middleware and without a field of old keys

OLD_KEYS = ["5", "1844674407370955161699", "-1", "8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c", "", "é"]


@pytest.fixture(params=[UUIDv7Key, ULIDKey, SnowflakeKey], ids=lambda model: model.__name__)
def user(request, settings):
    model = around(request.param, "User")
    settings.AUTH_USER_MODEL = model._meta.label
    settings.ROOT_URLCONF = __name__
    return model.objects.create(name="ada")


def browser(key, client_class=Client):
    """A client whose session has that key."""
    client = client_class(raise_request_exception=True)
    session = client.session
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = key, BACKEND
    session[HASH_SESSION_KEY] = "x"
    session.save()
    client.cookies["sessionid"] = session.session_key
    return client


def test_a_visitor_with_a_key_of_another_type_is_logged_out_and_can_log_in_again(user):
    for old in OLD_KEYS:
        assert page(browser(old)) == page(browser(old), "/later/") == "nobody", old
        assert async_to_sync(later)(browser(old, AsyncClient)) == b"nobody", old
        client = browser(old)
        page(client, "/enter/")
        assert page(client) == page(client, "/later/") == "ada", old
        page(client, "/leave/")
        assert page(client) == "nobody", old
    with pytest.raises(ValidationError, match="is not a valid"):
        type(user)._meta.pk.to_python("é")
