"""The settings of a project whose keys are moved: those of its suite, and this package."""

import json
import os

from key_settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "django_sortable_ids"]  # noqa: F405
globals().update(json.loads(os.environ["OVERRIDES"]))
# Oscar gets hundreds of them: for keys without a type, and for URLs that accept numbers only.
SILENCED_SYSTEM_CHECKS = ["models.W042", "sortable_ids.W007"]
