"""``--max-replica-lag``, with a primary and a replica that are started for it."""

import re
from dataclasses import dataclass, field
from functools import partial

import pytest
from django.db import OperationalError, connection, connections

from django_sortable_ids.backfill import pace as replicas
from django_sortable_ids.backfill import run
from django_sortable_ids.backfill.pace import Control, Limits
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.models import BackfillRun
from tests.patience import wait_until
from tests.servers import MARIADB, MYSQL, POSTGRESQL, NoServer, replicated
from tests.settings import database

from .conftest import create_tables
from .shop.models import Plain
from .support import SECOND, START, build, concurrently, ids, insert

pytestmark = pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no replicas")

NAME = "shop.Plain.public_id"
ROWS = 40
STOPPED = "the lag of 'replica' is not known: its replication has stopped"


@dataclass(frozen=True)
class Statements:
    """What a replica is told; ``{port}`` is that of the primary."""

    hold: str
    """Receive changes, and don't apply them."""
    release: str
    follow: list[str]
    leave: list[str]
    first: list[str] = field(default_factory=list)
    """Before it follows for the first time."""


_FOLLOWS = "host=127.0.0.1 port={port} user=postgres"
_POSTGRESQL = Statements(
    hold="SELECT pg_wal_replay_pause()",
    release="SELECT pg_wal_replay_resume()",
    follow=[f"ALTER SYSTEM SET primary_conninfo = '{_FOLLOWS}'", "SELECT pg_reload_conf()"],
    leave=["ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"],
)
_MARIADB = Statements(
    hold="FLUSH TABLES WITH READ LOCK",
    release="UNLOCK TABLES",
    first=["CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root'"],
    follow=["START SLAVE"],
    leave=["STOP SLAVE"],
)
_MYSQL = Statements(
    hold=_MARIADB.hold,
    release=_MARIADB.release,
    first=[
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, "
        "SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1"
    ],
    follow=["START REPLICA"],
    leave=["STOP REPLICA"],
)
STATEMENTS = {POSTGRESQL: _POSTGRESQL, MARIADB: _MARIADB, MYSQL: _MYSQL}


class Pair:
    """A primary and its replica."""

    def __init__(self, primary, replica):
        self.server = replica
        self.statements = STATEMENTS[primary.kind]
        self._port = primary.port

    def tell(self, *statements):
        with connections["replica"].cursor() as cursor:
            for statement in statements:
                cursor.execute(statement.format(port=self._port))


def answers(alias):
    try:
        connections[alias].ensure_connection()
    except OperationalError:
        return False
    return True


@pytest.fixture(scope="module")
def pair(django_db_setup, django_db_blocker):
    scheme = connection.vendor
    try:
        with replicated(scheme) as (primary, replica), django_db_blocker.unblock():
            default = connections.databases["default"]
            name = "postgres" if scheme == "postgresql" else "mysql"
            for alias, server in (("primary", primary), ("replica", replica)):
                settings = {**default, **database(server.url), "NAME": name}
                connections.databases[alias] = settings
                wait_until(partial(answers, alias), f"the {alias} answers")
            made = Pair(primary, replica)
            made.tell(*made.statements.first)
            if made.statements.first:
                made.tell(*made.statements.follow)
            create_tables("primary", Plain)
            tables = connections["replica"].introspection.table_names
            wait_until(lambda: Plain._meta.db_table in tables(), "the replica has the table")
            yield made
            for alias in ("primary", "replica"):
                connections[alias].close()
                del connections[alias], connections.databases[alias]
    except NoServer as error:
        pytest.skip(str(error))


@pytest.fixture
def rows(pair, django_db_blocker):
    """That the replica has, too."""
    with django_db_blocker.unblock():
        insert(Plain, [{"created_at": START + i // 3 * SECOND} for i in range(ROWS)], "primary")
        wait_until(lambda: len(ids(NAME, "replica")) == ROWS, "the replica has the rows")
        yield
        Plain.objects.using("primary").all().delete()
        BackfillRun.objects.using("primary").all().delete()


def fill(on_pause, lag, progress=lambda _: None):
    """What it said in this time."""
    said, left = [], ROWS

    def say(text):
        said.append(text)
        if text.startswith("paused"):
            on_pause()

    def note(filled):
        nonlocal left
        progress(filled)
        left -= filled
        if left == 1 and not said:
            wait_until(lag, "it has to pause")

    planned = build(NAME, 1, "primary")
    result = run.execute(planned, note, Limits(sleep=0.1, why_wait=lag), Control(say))
    assert (result.filled, result.remaining) == (ROWS, 0)
    made = ids(NAME, "primary")
    assert made == sorted(set(made))
    wait_until(lambda: ids(NAME, "replica") == made, "the replica has the ids")
    return said


def test_a_replica_that_is_late_is_waited_for(pair, rows):
    lag = replicas.watch("replica", 0.5)
    pair.tell(pair.statements.hold)
    said = fill(lambda: pair.tell(pair.statements.release), lag)
    # One that catches up may be in time for a moment, and late again with the next it applies.
    assert said[1::2] == ["resumed"] * (len(said) // 2)
    late = r"paused: the replica lags by \d+ s, at most 0.5"
    assert said
    assert all(re.fullmatch(late, each) for each in said[::2])


def test_one_that_is_as_late_as_it_may_be_is_not_waited_for(pair, rows):
    wait_until(lambda: not replicas.watch("replica", 0)(), "it is in time")


def test_one_that_stops_is_waited_for_too(pair, rows):
    lag = replicas.watch("replica", 30)
    follow, leave = pair.statements.follow, pair.statements.leave
    said = fill(lambda: pair.tell(*follow), lag, concurrently(1, lambda: pair.tell(*leave)))
    assert said == [f"paused: {STOPPED}", "resumed"]


def test_one_whose_server_is_away_is_waited_for(pair, rows):
    lag = replicas.watch("replica", 30)
    paused, on = fill(pair.server.start, lag, concurrently(1, pair.server.kill))
    assert paused.startswith("paused: the lag of 'replica' can't be queried: ")
    assert on == "resumed"


def test_one_that_has_stopped_is_refused(pair, rows):
    pair.tell(*pair.statements.leave)
    try:
        with pytest.raises(BackfillError, match=STOPPED):
            wait_until(lambda: not replicas.watch("replica", 30), "it is refused")
    finally:
        pair.tell(*pair.statements.follow)
