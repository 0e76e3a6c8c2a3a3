"""The settings of a project whose keys are moved: those of its suite, and this package."""

import json
import os

from key_settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "django_sortable_ids"]  # noqa: F405
globals().update(json.loads(os.environ["OVERRIDES"]))
# What Oscar gets hundreds of: keys without a type, and URLs that accept numbers only.
SILENCED_SYSTEM_CHECKS = ["models.W042", "sortable_ids.W007"]
# Errors of the settings and URLs of its suite.
SILENCED_SYSTEM_CHECKS += ["admin.E039", "admin.E406", "urls.E009"]
