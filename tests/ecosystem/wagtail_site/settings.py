"""A site with wagtail, whose users have sortable keys."""

from tests.settings import (  # noqa: F401
    DATABASES,
    DEFAULT_AUTO_FIELD,
    PASSWORD_HASHERS,
    SECRET_KEY,
    STATIC_URL,
    TEMPLATES,
    USE_TZ,
)

INSTALLED_APPS = [
    "tests.ecosystem.wagtail_site",
    *(f"wagtail.{each}" for each in ("contrib.forms", "contrib.redirects", "embeds", "sites")),
    *(f"wagtail.{each}" for each in ("users", "snippets", "documents", "images", "search")),
    *("wagtail.admin", "wagtail", "modelcluster", "taggit", "django_filters"),
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
AUTH_USER_MODEL = "wagtail_site.User"
ROOT_URLCONF = "tests.ecosystem.wagtail_site.urls"
WAGTAIL_SITE_NAME = "Shop"
WAGTAILADMIN_BASE_URL = "http://testserver"
