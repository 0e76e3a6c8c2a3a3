"""A site with wagtail."""

from tests.key_moves.settings import DATABASES  # noqa: F401
from tests.settings import (  # noqa: F401
    DEFAULT_AUTO_FIELD,
    PASSWORD_HASHERS,
    SECRET_KEY,
    STATIC_URL,
    TEMPLATES,
    USE_TZ,
)

CONTRIB = ("forms", "redirects", "search_promotions")
APPS = ("embeds", "sites", "users", "snippets", "documents", "images", "search", "admin")
INSTALLED_APPS = [
    *("blog", "people"),
    *(f"wagtail.contrib.{each}" for each in CONTRIB),
    *(f"wagtail.{each}" for each in APPS),
    *("wagtail", "modelcluster", "taggit", "django_filters"),
    *(f"django.contrib.{each}" for each in ("auth", "contenttypes", "sessions", "messages")),
    "django.contrib.staticfiles",
    "django_sortable_ids",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
AUTH_USER_MODEL = "people.User"
ROOT_URLCONF = "urls"
ALLOWED_HOSTS = ["*"]
MEDIA_ROOT = "media"
WAGTAIL_SITE_NAME = "Shop"
WAGTAILADMIN_BASE_URL = "http://testserver"
