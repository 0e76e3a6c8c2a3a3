"""A throw-away app, whose migrations run for real."""

import importlib
import sys
from contextlib import contextmanager
from textwrap import dedent, indent

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import isolate_apps

from tests.own_tables import few_tables

from .sources import CREATE_WITH_ROWS, FIVE_ROWS, fill

HEAD = """\
from django.db import migrations, models
from django.db.migrations import *
from django.db.models import *
from django_sortable_ids.fields import *
from django_sortable_ids.operations import *

"""


def forget(package):
    for name in list(sys.modules):
        if f"{name}.".startswith(f"{package}."):
            del sys.modules[name]


class Depot:
    """The app ``depot``: write migrations, run them, look at its tables."""

    def __init__(self, folder):
        self.folder = folder / "depot"
        (self.folder / "migrations").mkdir(parents=True)
        (self.folder / "__init__.py").touch()
        (self.folder / "models.py").touch()
        (self.folder / "migrations" / "__init__.py").touch()
        self.names = []
        self._models = {}

    def write(self, operations, before="", atomic=True):
        """Write the next migration: its operations as Python source."""
        last = [("depot", self.names[-1])] if self.names else []
        name = f"{len(self.names) + 1:04}_step"
        self.names.append(name)
        (self.folder / "migrations" / f"{name}.py").write_text(
            f"{HEAD}{dedent(before)}\n\n"
            f"class Migration(migrations.Migration):\n"
            f"    atomic = {atomic}\n"
            f"    dependencies = {last!r}\n"
            f"    operations = [\n{indent(dedent(operations), ' ' * 8)}\n    ]\n"
        )
        return name

    def take_back(self, count=1):
        """Delete the last migrations, which must not be applied."""
        for _ in range(count):
            (self.folder / "migrations" / f"{self.names.pop()}.py").unlink()

    def migrate(self, to=None, **options):
        importlib.invalidate_caches()
        forget("depot.migrations")
        arguments = ["depot", to] if to else ["depot"]
        call_command("migrate", *arguments, verbosity=0, **options)

    def refusal(self, to=None):
        """What ``migrate`` refuses it with."""
        with pytest.raises(CommandError) as refused:
            self.migrate(to)
        return str(refused.value)

    def applied(self):
        return sorted(
            MigrationRecorder(connection)
            .migration_qs.filter(app="depot")
            .values_list("name", flat=True)
        )

    def model(self, name, at=None):
        """The historical model, after the migration ``at`` or the last one that is applied."""
        at = at or self.applied()[-1]
        files = (self.folder / "migrations").glob("*.py")
        key = at, *sorted((file.name, file.stat().st_mtime_ns) for file in files)
        if key not in self._models:
            state = MigrationLoader(connection).project_state(("depot", at))
            self._models[key] = state.apps
        return self._models[key].get_model("depot", name)

    def undetected(self, at, *operations):
        """Whether nothing is to change after all migrations, where the models are as those after
        the migration ``at`` and these operations."""
        loader = MigrationLoader(connection)
        wanted = loader.project_state(("depot", at))
        for each in operations:
            each.state_forwards("depot", wanted)
        found = loader.project_state(("depot", self.names[-1]))
        return MigrationAutodetector(found, wanted)._detect_changes() == {}

    def column(self, table, column):
        """Every value of a column, as the driver gives it."""
        quote = connection.ops.quote_name
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {quote(column)} FROM {quote(table)} ORDER BY name")
            return [value for (value,) in cursor.fetchall()]

    def drop(self):
        with connection.cursor() as cursor:
            tables = connection.introspection.table_names(cursor)
        with connection.constraint_checks_disabled(), connection.cursor() as cursor:
            for table in tables:
                if table.startswith("depot_") or "__depot_" in table:
                    cascade = " CASCADE" if connection.vendor == "postgresql" else ""
                    cursor.execute(f"DROP TABLE {connection.ops.quote_name(table)}{cascade}")
        MigrationRecorder(connection).migration_qs.filter(app="depot").delete()


@contextmanager
def modelled(module, table, **fields):
    """In a module of the package, the only model is one of that table, with these fields."""
    with isolate_apps("depot") as own, pytest.MonkeyPatch.context() as patch:
        meta = type("Meta", (), {"app_label": "depot", "db_table": table})
        name = table.removeprefix("depot_").title()
        type(name, (models.Model,), {"__module__": __name__, "Meta": meta, **fields})
        patch.setattr(module, "apps", own)
        importlib.invalidate_caches()
        forget("depot.migrations")
        yield


@pytest.fixture
def five_rows(depot):
    """Two tables of the app have five rows each."""
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.migrate()


@pytest.fixture
def half_filled(depot):
    """Five rows, two of which have an id."""
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write('AddField("order", "public", ULIDField(null=True, unique=True)),')
    depot.write("RunPython(fill),", fill("ab"))
    depot.migrate()
    return depot


@pytest.fixture
def depot(tmp_path, monkeypatch, settings):
    """For tests that are marked ``own_tables``."""
    forget("depot")  # the app of the test before
    app = Depot(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # A migration that takes the place of another in the same second would be taken for that.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    settings.INSTALLED_APPS = ["django_sortable_ids", "depot"]
    with few_tables(tmp_path / "depot.sqlite3"):
        yield app
        if connection.vendor != "sqlite":
            app.drop()
