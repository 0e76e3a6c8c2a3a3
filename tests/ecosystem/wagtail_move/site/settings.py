"""A site with wagtail."""

from tests.ecosystem.wagtail_site.settings import *  # noqa: F403
from tests.ecosystem.wagtail_site.settings import INSTALLED_APPS
from tests.key_moves.settings import DATABASES  # noqa: F401

INSTALLED_APPS = ["blog", "people", "wagtail.contrib.search_promotions", *INSTALLED_APPS[1:]]
AUTH_USER_MODEL = "people.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ALLOWED_HOSTS = ["*"]
MEDIA_ROOT = "media"
