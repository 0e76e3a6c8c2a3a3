"""Settings of a project with a theme, in memory."""

import os

from tests.settings import (  # noqa: F401
    DEFAULT_AUTO_FIELD,
    MIDDLEWARE,
    PASSWORD_HASHERS,
    SECRET_KEY,
    STATIC_URL,
    TEMPLATES,
    USE_TZ,
)

THEME = os.environ["THEME"]

INSTALLED_APPS = [
    THEME,
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_sortable_ids",
    "tests.ecosystem.themes",
]
ALLOWED_HOSTS = ["testserver"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
ROOT_URLCONF = "tests.ecosystem.themes.urls"
