"""A project whose users have masked keys: its pages, its mails and what the checks say of it."""

import pytest
from django.contrib.auth.views import PasswordResetView
from django.urls import include, path
from rest_framework import serializers
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import CursorPagination
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ReadOnlyModelViewSet

from django_sortable_ids.checks.definitions import check_masks
from django_sortable_ids.checks.views import check_views
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.rest_framework import SortableIDCursorPagination
from tests.backfill.own_project import SETTINGS, WITH_PAGES, Project
from tests.combinations import in_one_case
from tests.testapp.models import MaskedKey, MaskedPart, ULIDKey

from .test_definitions import define

KEY = "f0debc9a785634121032547698badcfe"

MODELS = """
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django_sortable_ids.fields import UUIDv7Field

class User(AbstractBaseUser):
    id = UUIDv7Field(primary_key=True, masked=True, prefix="usr")
    email = models.EmailField(unique=True)
    is_active = models.BooleanField(default=True)
    USERNAME_FIELD = EMAIL_FIELD = "email"
    objects = BaseUserManager()
"""

URLS = """
from django.contrib import admin
from django.contrib.auth import views
from django.urls import include, path
from django_sortable_ids.auth import SortableIDPasswordResetForm
from django.contrib.auth.forms import PasswordResetForm

class OwnForm(PasswordResetForm):
    pass

class OwnView(views.PasswordResetView):
    form_class = OwnForm

class Quiet(PasswordResetForm):
    def send_mail(self, *args, **kwargs):
        pass

urlpatterns = [
    path("", include([
        path("plain/", views.PasswordResetView.as_view()),
        path("own/", OwnView.as_view()),
    ])),
    path("reset/", views.PasswordResetView.as_view(form_class=SortableIDPasswordResetForm)),
    path("quiet/", views.PasswordResetView.as_view(form_class=Quiet)),
    path("admin/", admin.site.urls),
    path("done/", views.PasswordResetDoneView.as_view(), name="password_reset_done"),
    path("set/<uidb64>/<token>/", views.PasswordResetConfirmView.as_view(),
         name="password_reset_confirm"),
    path("complete/", views.PasswordResetCompleteView.as_view(), name="password_reset_complete"),
]
"""

OWN_SETTINGS = """
import django

LOCAL = "django.core.mail.backends.locmem.EmailBackend"
if django.VERSION < (6, 1):
    EMAIL_BACKEND = LOCAL
else:
    MAILERS = {"default": {"BACKEND": LOCAL}}
AUTH_USER_MODEL = "depot.User"
MIGRATION_MODULES = {"depot": None}
"""

RESET = """
import re
import warnings

warnings.simplefilter("error")

from django.conf import settings
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from tests.leaks import leaks
from depot.models import User
from django_sortable_ids.ids import public_id

call_command("migrate", run_syncdb=True, verbosity=0)
user = User(email="ada@example.com")
user.set_password("old password 1")
user.save()
setup_test_environment()

def send(url):
    mail.outbox.clear()
    assert Client().post(url, {"email": user.email}).status_code == 302
    (message,) = mail.outbox
    return f"{message.subject} {message.body}"

assert leaks(send("/plain/"), user.pk)
text = send("/reset/")
assert not leaks(text, user.pk)
link = re.search("/set/[^ \\n]+", text)[0]
settings.SORTABLE_IDS["MASK_KEYS"].insert(0, "0123456789abcdeffedcba9876543210")
client = Client()
page = client.get(link, follow=True)
assert page.context["validlink"]
done = client.post(page.redirect_chain[-1][0],
    {"new_password1": "a new one 2", "new_password2": "a new one 2"})
assert done.status_code == 302
user.refresh_from_db()
assert user.check_password("a new one 2")
assert str(user) == user.email and repr(user) == f"<User: {user.email}>"
"""

CHECK = """
from django.core.checks import run_checks
found = {message.id for message in run_checks()}
print(*sorted(id for id in found if id.startswith("sortable_ids")))
"""

VIEWS = """
from django_sortable_ids.checks.views import check_views
print(*sorted(message.msg.split()[3] for message in check_views()))
"""


@pytest.fixture
def in_a_project(tmp_path):
    project = Project(tmp_path)
    project.write(MODELS, "", urls=URLS)

    def run(script, keys=(KEY,), sessions="db"):
        """What the script prints, with these keys of masks and backend of sessions."""
        own = f"SORTABLE_IDS = {{'MASK_KEYS': {list(keys)!r}}}\n"
        own += f"SESSION_ENGINE = 'django.contrib.sessions.backends.{sessions}'\n"
        settings = SETTINGS + WITH_PAGES + OWN_SETTINGS + own
        (tmp_path / "settings.py").write_text(settings)
        return project.manage("shell", "-v0", "-c", script).strip()

    return run


def test_password_reset_links_name_the_public_text(in_a_project):
    in_a_project(RESET)


def test_what_check_says_of_the_project(in_a_project):
    assert in_a_project(CHECK + VIEWS).splitlines() == [
        "sortable_ids.E010",
        "OwnView PasswordResetView",
    ]
    found = in_a_project(CHECK, keys=[], sessions="signed_cookies").split()
    assert found == ["sortable_ids.E010", "sortable_ids.E011", "sortable_ids.W005"]


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
    settings.SORTABLE_IDS = {"MASK_KEYS": ["x"]}
    message = check_masks()[0]
    assert "32 hexadecimal digits" in message.msg
    for fine in ({"MASK_KEYS": [KEY]}, 7, {"worker": 1}):
        settings.SORTABLE_IDS = fine
        assert check_masks() == []


def listing(of, paginator, **attributes):
    attributes = {"pagination_class": paginator, "queryset": of.objects.all()} | attributes
    return type("Listing", (ReadOnlyModelViewSet,), attributes)


def test_views_whose_cursors_show_masked_ids(settings):
    paginator = type("ByID", (CursorPagination,), {"ordering": "-id"})
    router = SimpleRouter()
    router.register("leaking", listing(MaskedKey, paginator), "a")
    by_whole = type("ByWhole", (CursorPagination,), {"ordering": ("whole", "id")})
    router.register("relation", listing(MaskedPart, by_whole), "b")
    by_name = type("ByName", (CursorPagination,), {"ordering": "name"})
    router.register("unmasked", listing(ULIDKey, by_name), "c")
    ours = type("Ours", (SortableIDCursorPagination,), {"ordering": "-id"})
    router.register("ours", listing(MaskedKey, ours), "d")
    router.register("none", listing(MaskedKey, None), "e")
    settings.ROOT_URLCONF = type(
        "URLs", (), {"urlpatterns": [path("api/", include(router.urls)), *UNCONCERNED]}
    )
    assert [message.id for message in check_views()] == ["sortable_ids.W006"] * 2
    settings.ROOT_URLCONF = None
    assert check_views() == []


class Rows(serializers.ModelSerializer):
    class Meta:
        model = MaskedKey
        fields = ("id", "name")


@in_one_case(
    ("attributes", "warned"),
    [
        ({"queryset": None, "serializer_class": Rows}, True),
        ({"queryset": None}, False),
        ({"filter_backends": [OrderingFilter], "ordering": ["-id"]}, True),
    ],
)
def test_what_is_known_of_the_model_of_a_view(settings, attributes, warned):
    view = listing(MaskedKey, CursorPagination, **attributes)
    route = path("x/", view.as_view({"get": "list"}))
    settings.ROOT_URLCONF = type("URLs", (), {"urlpatterns": [route]})
    assert [message.id for message in check_views()] == ["sortable_ids.W006"] * warned


UNCONCERNED = [path("reset/", PasswordResetView.as_view()), path("x/", lambda request: None)]


def test_models_without_masked_ids(isolated, settings, monkeypatch):
    define("Plain", id=UUIDv7Field(primary_key=True))
    settings.SORTABLE_IDS = {}
    assert [message.id for message in check_masks(isolated.get_app_configs())] == []
