"""The settings that helpdesk's ``quicktest.py`` gives to ``settings.configure``, as a module."""

import sys
from contextlib import redirect_stdout

with redirect_stdout(sys.stderr):  # it greets
    from quicktest import QuickDjangoTest

INSTALLED_APPS = QuickDjangoTest.INSTALLED_APPS
MIDDLEWARE = QuickDjangoTest.MIDDLEWARE
TEMPLATES = QuickDjangoTest.TEMPLATES
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
HELPDESK_KBITEM_TEAM_GETTER = lambda _: None  # noqa: E731
HELPDESK_TEAMS_MIGRATION_DEPENDENCIES = []
HELPDESK_TEAMS_MODEL = "auth.User"
LOGIN_URL = "/login/"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ROOT_URLCONF = "tests.urls"
SECRET_KEY = "only for tests"
SITE_ID = 1
STATIC_URL = "/static/"
TIME_ZONE = "UTC"
