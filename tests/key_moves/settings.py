"""Settings of a project whose keys are moved: its database has the name that the environment says,
on the server of the tests."""

import os
import time
from typing import Any

from django.db.backends.signals import connection_created

from tests.settings import DATABASES, MIDDLEWARE, SECRET_KEY, TEMPLATES

DATABASES["default"]["NAME"] = os.environ.get("KEY_MOVES_DATABASE", ":memory:")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "graph.User"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django_sortable_ids",
    "tests.key_moves.graph",
]
USE_TZ = True
TIME_ZONE = "America/New_York"


STATEMENTS = os.environ.get("KEY_MOVES_STATEMENTS", "")
"""The file to which each statement is appended before it is executed: a line with the time, which
all processes have in common, and the first characters."""


_NOTES = "django_sortable_ids_movenote"


def _tell(connection: Any, **_: Any) -> None:
    if connection.execute_wrappers:
        return
    log = os.open(STATEMENTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def execute(run: Any, sql: str, params: Any, *rest: Any) -> Any:
        shown = f"{' '.join(sql.split())[:200]} {params!r}" if _NOTES in sql else sql[:200]
        os.write(log, f"{time.monotonic()} {' '.join(shown.split())}\n".encode())
        return run(sql, params, *rest)

    connection.execute_wrappers.append(execute)


if STATEMENTS:
    connection_created.connect(_tell, weak=False)

__all__ = ["DATABASES", "MIDDLEWARE", "SECRET_KEY", "TEMPLATES"]
