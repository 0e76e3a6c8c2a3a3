"""The settings of a project's suite; if KEYS has any, with sortable ids as the keys of its models.

KEYS is JSON: the field, the apps whose configuration gets it, the fixtures that migrations load,
and other settings. DATABASE is the database in JSON; without it, the suite's own.
"""

import importlib
import json
import os

globals().update(vars(importlib.import_module(os.environ["OWN_SETTINGS"])))

if os.environ.get("DATABASE"):
    DATABASES = {"default": json.loads(os.environ["DATABASE"])}

# Processes that share the index of a search wait for each other, some of them forever.
for _index in globals().get("HAYSTACK_CONNECTIONS", {}).values():
    _index["PATH"] += os.environ.get("PYTEST_XDIST_WORKER", "")

if os.environ.get("KEYS"):
    _keys = json.loads(os.environ["KEYS"])
    DEFAULT_AUTO_FIELD = _keys["field"]
    APPS_WITH_KEYS = _keys["app_configs"]
    LOADED_BY_MIGRATIONS = _keys["fixtures"]
    # The tables are created from the models, as the first migrations of a new project would.
    INSTALLED_APPS = [
        f"key_apps.{APPS_WITH_KEYS[each].rpartition('.')[2]}" if each in APPS_WITH_KEYS else each
        for each in globals()["INSTALLED_APPS"]
    ]
    INSTALLED_APPS.append("django_sortable_ids")
    globals().update(_keys["overrides"])
