"""Links in mails from before the move of the user's key."""

import uuid

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from django_sortable_ids.auth import SortableIDPasswordResetConfirmView
from django_sortable_ids.ids import public_id
from tests.combinations import in_one_case

from .models import IntegerUser, MaskedUser, MovedUser, NumberedUser

pytestmark = pytest.mark.django_db
OLD_UUID = uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c")
MOVED = {MovedUser: 17, NumberedUser: 17, MaskedUser: OLD_UUID}


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
    path("reset/<uidb64>/<token>/", Confirm.as_view()),
    path("usual/<uidb64>/<token>/", Usual.as_view()),
]


@pytest.fixture
def ada(settings, monkeypatch):
    def make(model, **values):
        settings.AUTH_USER_MODEL = model._meta.label
        settings.ROOT_URLCONF = __name__
        monkeypatch.setattr("django.contrib.auth.views.UserModel", model)
        user = model(name="ada", **values)
        user.set_password("secret")
        user.save()
        return user

    return make


def link(user, key, text=None):
    """What Django sent to the user when ``key`` was the primary key."""
    before = type(user)(name=user.name, password=user.password)
    before.pk = key
    token = default_token_generator.make_token(before)
    return f"{urlsafe_base64_encode(force_bytes(text or key))}/{token}/"


def page(url):
    return Client().get(url, follow=True).content.decode()


@in_one_case(("model", "old"), MOVED.items())
def test_a_link_from_before_the_move_sets_the_password(model, old, ada):
    user = ada(model, old_id=old)
    url = link(user, old)
    assert page(f"/usual/{url}") == "wrong link"
    client = Client()
    form = client.get(f"/reset/{url}", follow=True)
    assert form.content == b"form"
    assert client.post(form.request["PATH_INFO"], {"password": "new"}).url == "/done/"
    user.refresh_from_db()
    assert user.check_password("new")
    assert page(f"/reset/{url}") == "wrong link"


@in_one_case("model", [*MOVED, IntegerUser])
def test_a_link_of_now(model, ada):
    user = ada(model)
    assert page(f"/reset/{link(user, user.pk)}") == "form"
    if model is MaskedUser:
        assert page(f"/reset/{link(user, user.pk, public_id(user))}") == "form"


@in_one_case(("model", "old"), MOVED.items())
def test_a_wrong_link(model, old, ada, settings):
    user = ada(model, old_id=old)
    other = model(name="other", password=user.password)
    other.save()
    for wrong in (link(other, old, other.pk), link(user, old, "18"), link(user, 18, old)):
        assert page(f"/reset/{wrong}") == "wrong link", wrong
    for uid in ("", "x", "é", "%ff", "_w"):
        assert page(f"/reset/{uid or 'MA'}/c-x/") == "wrong link"
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert page(f"/reset/{link(user, old)}") == "wrong link"
