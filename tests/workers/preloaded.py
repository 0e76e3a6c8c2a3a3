"""A WSGI application that gunicorn loads, and leases a number in, before it forks its workers."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

import django

django.setup()

from django_sortable_ids.fields import SnowflakeField  # noqa: E402

FIELD: Any = SnowflakeField()
BEFORE = [FIELD.generate() for _ in range(100)]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """What the process is, and ids: made before the fork, and in the request."""
    made = [FIELD.generate() for _ in range(100)]
    body = {
        "process": os.getpid(),
        "number": made[0] >> 12 & 1023,
        "before": BEFORE,
        "made": made,
    }
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(body).encode()]
