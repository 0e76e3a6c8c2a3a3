"""Runs a command of the example, and kills it before it records an app's first migration."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django
from django.core.management import call_command
from django.db import connection


def kill(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
    app = os.environ["KILLED_APP"]
    if sql.startswith('INSERT INTO "django_migrations"') and params[:2] == (app, "0001_initial"):
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(sql, params, many, context)


if __name__ == "__main__":
    django.setup()
    with connection.execute_wrapper(kill):
        call_command(*sys.argv[1:])
