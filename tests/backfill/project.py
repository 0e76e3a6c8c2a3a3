"""Settings of the command in a process of its own: the database of the test that starts it."""

import json
import os
import re
import signal
from itertools import count
from typing import Any

from django.db.backends.signals import connection_created

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

_batches = count(1)
_stops_in = json.loads(os.environ.get("BACKFILL_STOPS_IN", "[]"))


def _stop_in_batch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    """Before the run notes where it stands, in the transaction that has written the ids. A batch
    that is retried is counted again.
    """
    if re.search('SET ["`]cursor["`] =', sql) and next(_batches) in _stops_in:
        os.kill(os.getpid(), signal.SIGSTOP)
    return execute(sql, params, many, context)


def _watch(connection: Any, **_: Any) -> None:
    if _stop_in_batch not in connection.execute_wrappers:
        connection.execute_wrappers.append(_stop_in_batch)


if _stops_in:
    connection_created.connect(_watch)
