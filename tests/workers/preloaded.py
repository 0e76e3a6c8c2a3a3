"""A WSGI application that gunicorn loads, and makes ids and leases a number in, before it forks its
workers."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import django

django.setup()

from django_sortable_ids.fields import SnowflakeField  # noqa: E402
from django_sortable_ids.schemes import get  # noqa: E402
from django_sortable_ids.schemes.layout import Layout  # noqa: E402

FIELD: Any = SnowflakeField()
# With ticks so long, and suffixes so few for them, every step from one id to the next is 1.
COUNTING = replace(
    get("ulid"), layout=Layout(ticks=1 << 48, suffixes=1 << 52), tick_ns=1_000_000_000_000_000_000
)
SOURCES = [FIELD, get("uuid7"), get("ulid"), COUNTING]


def make() -> list[list[str]]:
    return [[str(source.generate()) for _ in range(100)] for source in SOURCES]


BEFORE = make()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """What the process is, and ids: made before the fork, and in the request."""
    made = make()
    number = int(made[0][0]) >> 12 & 1023
    body = {"process": os.getpid(), "number": number, "before": BEFORE, "made": made}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(body).encode()]
