"""A process that generates ids of a leased worker number, as it is told: a line of JSON each time.

``ids 5`` generates ids. ``many`` generates them until that fails. ``fork 5`` generates them in a
forked child, which ends as processes do, ``child 5`` in one of multiprocessing, and ``atomic 5`` in
a transaction that rolls back. ``extend 5`` extends the lease to 5 s from now. The end of the input
is its end.
"""

import json
import multiprocessing
import os
import sys
import time
import traceback
from typing import Any

import django

django.setup()

from django.db import transaction  # noqa: E402

from django_sortable_ids import workers  # noqa: E402
from django_sortable_ids.fields import SnowflakeField  # noqa: E402

FIELD: Any = SnowflakeField(worker_bits=int(sys.argv[1]))


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def make(count: int) -> None:
    try:
        say([FIELD.generate() for _ in range(count)])
    except Exception as error:
        say({"error": type(error).__name__, "message": str(error), "all": traceback.format_exc()})


def make_many() -> None:
    try:
        while True:
            say([FIELD.generate() for _ in range(100)])
    except Exception as error:
        say({"error": type(error).__name__})


def fork(count: int) -> None:
    child = os.fork()
    if child == 0:
        make(count)
        sys.exit()
    os.waitpid(child, 0)


def lease() -> Any:
    return workers._process.lease


def extend(seconds: int) -> None:
    lease().extend(time.time_ns() + seconds * 10**9)
    say(lease().ends_ns)


def in_child(count: int) -> None:
    child = multiprocessing.get_context("fork").Process(target=make, args=[count])
    child.start()
    child.join()


def roll_back(count: int) -> None:
    with transaction.atomic():
        make(count)
        transaction.set_rollback(True)


for line in sys.stdin:
    match line.split():
        case ["ids", count]:
            make(int(count))
        case ["many"]:
            make_many()
        case ["fork", count]:
            fork(int(count))
        case ["child", count]:
            in_child(int(count))
        case ["atomic", count]:
            roll_back(int(count))
        case ["extend", seconds]:
            extend(int(seconds))
