"""A process that inserts rows for as long as its input is open.

``python -m tests.cluster.writing MODEL URL...``

It writes to the node of the first URL, and where it loses a node it continues with the next URL.
Each line of its output is what became of one transaction: ``[EVENT, ROWS]``, and for a fault what
it is.

committed  acknowledged
conflict   refused for another transaction, so not committed
lost       the connection broke before COMMIT, so not committed
found      it broke during COMMIT; looked up by their ids, the rows are there
missing    likewise, and they are not
fault      any other error
"""

import json
import os
import random
import sys
import time
from itertools import cycle
from threading import Event, Thread
from urllib.parse import urlsplit

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.db import Error, InterfaceError, OperationalError, connection, transaction  # noqa: E402

from django_sortable_ids.db.errors import is_conflict  # noqa: E402
from tests.patience import PATIENCE  # noqa: E402

ROWS = 3
"""How many rows a transaction inserts."""

# Can't connect, gone away, lost during the query, shutting down, and a node outside of its cluster:
# "WSREP has not yet prepared node for application use"; 1180 at its COMMIT.
LOST_CONNECTION = {2002, 2003, 2006, 2013, 1053, 1047, 1180}

LONGEST_PAUSE = 0.02
"""Seconds after a conflict: those who try again at once are in each other's way again."""

stopping = Event()
model = apps.get_model("cluster", sys.argv[1])
ports = cycle(str(urlsplit(url).port) for url in sys.argv[2:])


def say(event, what):
    print(json.dumps([event, what]), flush=True)


def is_lost(error):
    return isinstance(error, InterfaceError) or error.args[0] in LOST_CONNECTION


def new_rows():
    """Their worker number may have to be leased again, if this process was stopped for long."""
    while True:
        try:
            return [model() for _ in range(ROWS)]
        except (OperationalError, InterfaceError) as error:
            if not is_lost(error):
                raise
            connect()


def insert():
    """One transaction, once."""
    rows, committing = new_rows(), False
    try:
        with transaction.atomic():
            model.objects.bulk_create(rows)
            committing = True
        event = "committed"
    except (OperationalError, InterfaceError) as error:
        if is_lost(error):
            connect()
            event = look_up(rows) if committing else "lost"
        elif is_conflict(error):
            event = "conflict"
            time.sleep(random.uniform(0, LONGEST_PAUSE))
        else:
            raise
    say(event, [[str(row.id), row.snowflake, row.number] for row in rows])


def connect():
    """A connection to the next node that is ready: others answer a ping and ``SELECT 1``, too."""
    while True:
        connection.close()
        connection.settings_dict["PORT"] = next(ports)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW STATUS LIKE 'wsrep_ready'")
                if cursor.fetchone() == ("wsrep_ready", "ON"):
                    return
        except OperationalError as error:
            if not is_lost(error):
                raise
        time.sleep(0.1)


def look_up(rows):
    """Whether rows whose COMMIT was not answered are there: made in Python, their ids are known."""
    while True:
        try:
            with connection.cursor() as cursor:
                # Behind all that the cluster has committed until now.
                cursor.execute("SET wsrep_sync_wait = 1")
            found = model.objects.filter(pk__in=[row.pk for row in rows]).count()
        except OperationalError as error:
            if not is_lost(error):
                raise
            connect()
            continue
        assert found in (0, len(rows)), "a part of a transaction"
        return "found" if found else "missing"


def stop_behind_input():
    """Also where the test was killed, and no node comes back."""
    os.read(sys.stdin.fileno(), 1)
    stopping.set()
    time.sleep(PATIENCE)
    os._exit(1)


Thread(target=stop_behind_input, daemon=True).start()
connection.settings_dict["PORT"] = next(ports)
try:
    while not stopping.is_set():
        insert()
except (Error, AssertionError) as error:
    say("fault", repr(error))
    raise
