"""A WSGI application that gunicorn loads, and makes ids in, before it forks its workers."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.layout import Layout

# With ticks so long, and suffixes so few for them, every step from one id to the next is 1.
COUNTING = replace(
    get("ulid"), layout=Layout(ticks=1 << 48, suffixes=1 << 52), tick_ns=1_000_000_000_000_000_000
)
SCHEMES = [get("uuid7"), get("ulid"), COUNTING]
BEFORE = [[str(scheme.generate()) for _ in range(100)] for scheme in SCHEMES]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """What the process is, and ids of each scheme: made before the fork, and in the request."""
    made = [[str(scheme.generate()) for _ in range(1000)] for scheme in SCHEMES]
    body = {"process": os.getpid(), "before": BEFORE, "made": made}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(body).encode()]
