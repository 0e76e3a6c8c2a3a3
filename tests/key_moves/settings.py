"""Settings of a project whose keys are moved: its database has the name that the environment says,
on the server of the tests."""

import os

from tests.settings import DATABASES, MIDDLEWARE, SECRET_KEY, TEMPLATES

DATABASES["default"]["NAME"] = os.environ.get("KEY_MOVES_DATABASE", ":memory:")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "graph.User"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django_sortable_ids",
    "tests.key_moves.graph",
]
USE_TZ = True
TIME_ZONE = "America/New_York"

__all__ = ["DATABASES", "MIDDLEWARE", "SECRET_KEY", "TEMPLATES"]
