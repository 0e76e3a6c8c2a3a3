"""Settings of the command in a process of its own: the database of the test that starts it."""

import json
import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, SORTABLE_IDS

DATABASES["default"] |= json.loads(os.environ["BACKFILL_DATABASE"])
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django_sortable_ids",
    "tests.backfill.shop",
    "tests.testapp",
]
ROOT_URLCONF = __name__
urlpatterns: list[object] = []
for _name, _value in json.loads(os.environ.get("BACKFILL_SETTINGS", "{}")).items():
    globals()[_name] = SORTABLE_IDS | _value if _name == "SORTABLE_IDS" else _value
