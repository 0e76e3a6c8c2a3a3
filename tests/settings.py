"""Settings of the test suite.

The database is SQLite, or what DATABASE_URL says: ``postgresql://user:password@host:port/name`` or
``mysql://...`` (MariaDB and MySQL alike).
"""

import os
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.patience import PATIENCE

ENGINES = {"postgresql": "django.db.backends.postgresql", "mysql": "django.db.backends.mysql"}


def database(url: str) -> dict[str, object]:
    if not url:
        # A file, so that threads have connections of their own, as on the other engines.
        file = Path(tempfile.gettempdir()) / f"sortable_ids_{os.getpid()}.sqlite3"
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": file,
            "TEST": {"NAME": file},
            "OPTIONS": {
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF",
                "timeout": PATIENCE,
                "transaction_mode": "IMMEDIATE",
            },
        }
    parts = urlsplit(url)
    return {
        "ENGINE": ENGINES[parts.scheme],
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
    }


DATABASES = {"default": database(os.environ.get("DATABASE_URL", ""))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django_filters",
    "drf_spectacular",
    "rest_framework",
    "django_sortable_ids",
    "tests.backfill.shop",
    "tests.old_ids",
    "tests.oracle",
    "tests.store",
    "tests.testapp",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ROOT_URLCONF = "tests.urls"
# The models are there to be tested: many have the prefix "pub", and some ids are not unique.
SILENCED_SYSTEM_CHECKS = ["sortable_ids.E001", "sortable_ids.W001"]
SORTABLE_IDS = {"MASK_KEYS": ["0" * 32]}
SECRET_KEY = "only for tests"
SPECTACULAR_SETTINGS = {"ENABLE_DJANGO_DEPLOY_CHECK": False}  # the API has names twice
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
TIME_ZONE = "America/New_York"
USE_TZ = True
STATIC_URL = "static/"
