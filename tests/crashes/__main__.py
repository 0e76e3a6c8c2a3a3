"""``python -m tests.crashes --runs 100``: a line for each run, on the database of DATABASE_URL, or
with ``--kill-server`` on a server of that kind, which is started for it and killed.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

import django

from tests.servers import UNAVAILABLE, NoServer, Server, to_kill

from . import __doc__ as description

FIELDS = ("uuid7", "ulid", "snowflake")


def main(arguments: list[str]) -> int:
    """0 where all is right, 69 where there is no server to kill, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.crashes", description=description)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--most-kills", type=int, default=4, help="of a run")
    parser.add_argument("--kill-server", action="store_true", help="and not the backfill")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        try:
            killed = stack.enter_context(to_kill(is_wanted=options.kill_server))
        except NoServer as error:
            print(error)
            return UNAVAILABLE
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
        django.setup()
        return runs(options, killed)


def runs(options: argparse.Namespace, killed: Server | None) -> int:
    """0 where all of them are right, else 1."""
    from django.db import connection

    from .crash import Outcome, crash, empty, not_unique

    failed, kills, begun = 0, 0, time.monotonic()
    with database(killed) as tables:
        for seed in range(options.seed, options.seed + options.runs):
            field, begun_run = FIELDS[seed % len(FIELDS)], time.monotonic()
            is_plain = connection.vendor == "postgresql" and seed // len(FIELDS) % 2
            try:
                with not_unique(field) if is_plain else nullcontext():
                    found = crash(field, str(seed), options.most_kills, killed)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                found = Outcome(problems=[repr(error)])
            kills += found.kills
            failed += bool(found.problems)
            line = f"seed {seed}, {field}: {found.kills} kills, {found.rows:,} rows"
            print(f"{line}, {time.monotonic() - begun_run:.0f} s", *found.problems, flush=True)
            for model in tables:
                empty(model)
    what = f"{connection.display_name}'s server" if killed else connection.display_name
    seconds = time.monotonic() - begun
    print(f"{options.runs} runs with {kills} kills on {what} in {seconds:.0f} s: {failed} failed")
    return 1 if failed else 0


@contextmanager
def database(killed: Server | None) -> Iterator[list]:
    """The tables of the runs, in a database that is gone after them."""
    from django.db import connection

    from tests.backfill.support import own_models
    from tests.testapp.models import Order

    from .crash import patiently

    name = connection.settings_dict["NAME"]
    tables = [Order, *own_models()]

    def create() -> None:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")

    if killed:
        patiently(create)
        with connection.schema_editor() as editor:
            for model in tables:
                editor.create_model(model)
    else:
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        yield tables
    finally:
        if not killed:
            connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
