"""A project with the other packages that are installed; its database is that of ``tests.settings``.

strawberry and graphene need different releases of graphql-core, so no environment has all of them.
"""

from importlib.util import find_spec

from tests.settings import (  # noqa: F401
    DATABASES,
    DEFAULT_AUTO_FIELD,
    MIDDLEWARE,
    PASSWORD_HASHERS,
    SECRET_KEY,
    SORTABLE_IDS,
    STATIC_URL,
    TEMPLATES,
    TIME_ZONE,
    USE_TZ,
)

WITH_GRAPHENE = find_spec("graphene_django") is not None
DJANGOS = ("admin", "auth", "contenttypes", "messages", "sessions")
INSTALLED_APPS = [
    *(f"django.contrib.{each}" for each in DJANGOS),
    "django_sortable_ids",
    "tests.ecosystem.shop",
]
if WITH_GRAPHENE:
    INSTALLED_APPS += ["graphene_django"]
else:
    INSTALLED_APPS += [
        *("guardian", "import_export", "rest_framework", "simple_history", "taggit"),
        "tests.ecosystem.extended",
    ]
ROOT_URLCONF = "tests.ecosystem.urls"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if "guardian" in INSTALLED_APPS:
    AUTHENTICATION_BACKENDS += ["guardian.backends.ObjectPermissionBackend"]
