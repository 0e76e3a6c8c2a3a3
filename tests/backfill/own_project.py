"""A project of its own, with files that commands may write: its app is ``depot``."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.support import ROOT

SETTINGS = """
from pathlib import Path

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(Path(__file__).parent / "depot.sqlite3"),
        "OPTIONS": {"init_command": "PRAGMA synchronous=OFF"},
    }
}
INSTALLED_APPS = ["django_sortable_ids", "depot"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
"""

WITH_PAGES = """
from tests.settings import MIDDLEWARE, PASSWORD_HASHERS, TEMPLATES

APPS = ("admin", "auth", "contenttypes", "messages", "sessions")
INSTALLED_APPS += [f"django.contrib.{each}" for each in APPS]
ROOT_URLCONF = "urls"
SECRET_KEY = "secret"
"""
"""More settings, of a project with the admin."""

MODELS = """
from django.db import models
from django_sortable_ids.fields import SnowflakeField, ULIDField


class Order(models.Model):
    created_at = models.DateTimeField(db_index=True)
    public = ULIDField(null=True)
    number = SnowflakeField(null=True)
"""

MANAGE = """
import importlib
import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
arguments = sys.argv[1:]
while arguments:
    end = arguments.index("&&") if "&&" in arguments else len(arguments)
    importlib.invalidate_caches()
    execute_from_command_line(["manage.py", *arguments[:end]])
    arguments = arguments[end + 1 :]
"""
"""Runs several commands in one process, with "&&" between them."""

ROWS = """
from datetime import datetime, UTC
from depot.models import Order

times = [datetime(2024, 5, 17, 9, minute, tzinfo=UTC) for minute in range(9)]
Order.objects.bulk_create(Order(created_at=at) for at in times)
Order.objects.update(public=None, number=None)
"""

CREATED = ("--created-from", "created_at")

KEY = """\
    id = UUIDv7AutoField(primary_key=True)
    old_id = models.BigIntegerField(null=True, unique=True, editable=False)
"""
"""What the plan of a move asks for."""


RUNNER = """
import atexit
import gc
import importlib
import json
import os
import runpy
import sys
import traceback

before, after = map(json.loads, sys.argv[1:])
for name in before:
    importlib.import_module(name)

from django.apps import AppConfig, apps
from django.conf import settings
from django.db import connections
from django.utils.functional import empty

settings.configure()
own = AppConfig.create("django_sortable_ids")
apps.app_configs[own.label], apps.apps_ready = own, True
for name in after:
    importlib.import_module(name)
apps.apps_ready = False
apps.app_configs.clear()
apps.clear_cache()
del connections.settings
connections.__init__()
settings._wrapped = empty
gc.freeze()
while line := sys.stdin.readline():
    order = json.loads(line)
    child = os.fork()
    if not child:
        if hasattr(os.urandom, "start"):  # not of a program outside of the tests
            os.urandom.start(order["seed"])
            name = os.environ["RANDOM_SEED"].partition(" ")[0]
            os.environ["RANDOM_SEED"] = f"{name} {order['seed']}"
        os.environ.update(order["environment"])
        os.chdir(order["works_in"])
        for number, path, flags in order["files"]:
            file = os.open(path, flags, 0o666)
            os.dup2(file, number)
            os.close(file)
        sys.path.insert(0, order["folder"])
        sys.argv = ["manage.py", *order["arguments"]]
        code = 0
        try:
            runpy.run_path(os.path.join(order["folder"], "manage.py"), run_name="__main__")
        except SystemExit as error:
            code = error.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
        # The usual end would look at every object, and so copy the memory of all.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that has imported Django, without settings, and forks for each command.

What is the same in every start of ``manage.py`` is done once; each command still has a process,
a folder, settings, apps and streams of its own. Modules that need the models of the package are
imported with settings and an app that are forgotten then: no module asks them for more.
"""


IMPORTED = (
    *(
        f"django.core.management.commands.{name}"
        for name in ("check", "makemigrations", "migrate", "shell")
    ),
    "django.contrib.admin.sites",
    "django.contrib.admin.templatetags.admin_list",
    "django.contrib.admin.views.main",
    "django.contrib.auth.decorators",
    "django.contrib.auth.management",
    "django.contrib.auth.password_validation",
    "django.contrib.contenttypes.checks",
    "django.contrib.messages.storage",
    "django.contrib.sessions.middleware",
    "django.contrib.sites.shortcuts",
    "django.contrib.staticfiles.management",
    "django.core.cache.backends.locmem",
    "django.db.backends.sqlite3.base",
    "django.middleware.common",
    "django.middleware.csrf",
    "django.middleware.security",
    "django.template.defaultfilters",
    "django.utils.translation.reloader",
    "django.views.csrf",
    "django.views.debug",
    "django.views.defaults",
    "django_sortable_ids.admin.inspector",
    "django_sortable_ids.backfill.sources.periods",
    "django_sortable_ids.backfill.verification",
    "django_sortable_ids.backfill.writer",
    "django_sortable_ids.checks.databases",
    "django_sortable_ids.checks.views",
    "django_sortable_ids.fields",
    "django_sortable_ids.functions",
    "django_sortable_ids.lookups",
    "django_sortable_ids.migrating.guard",
    "django_sortable_ids.migrations.0001_initial",
    "django_sortable_ids.rest_framework.fields",
    "django_sortable_ids.schema.table_definition",
    "django_sortable_ids.schemes.catalog.integers",
    "django_sortable_ids.schemes.catalog.texts",
    "django_sortable_ids.schemes.catalog.uuids",
    "tests.patience",
)
"""Which need no settings, and take most of the time of a start."""
WITH_MODELS = (
    "django_sortable_ids.checks",
    "django_sortable_ids.management.commands.backfill_ids",
    "django_sortable_ids.management.modes",
    "django_sortable_ids.migrating.unrecorded",
    "django_sortable_ids.operations",
)
"""Which need the models of the package, too."""


@cache
def runner() -> "subprocess.Popen[str]":
    started = subprocess.Popen(
        [sys.executable, "-c", RUNNER, json.dumps(IMPORTED), json.dumps(WITH_MODELS)],
        env={
            **{key: value for key, value in os.environ.items() if "DJANGO" not in key},
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(started.communicate)
    return started


def manage(
    folder: Path,
    *arguments: str,
    works_in: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> "subprocess.CompletedProcess[str]":
    """Run a command of the ``manage.py`` in a folder, which it works in, unless in another."""
    if runner().poll() is not None:
        runner.cache_clear()
    process = runner()
    assert process.stdin is not None
    assert process.stdout is not None
    with tempfile.TemporaryDirectory() as streams:
        out, err = Path(streams, "out"), Path(streams, "err")
        written = os.O_WRONLY | os.O_CREAT
        files = [
            (0, os.devnull, os.O_RDONLY),
            (1, str(out), written),
            (2, str(err), written),
        ]
        seed = os.urandom(8).hex()
        order = {
            "folder": str(folder),
            "works_in": str(works_in or folder),
            "arguments": arguments,
            "environment": dict(environment),
            "files": files,
            "seed": seed,
        }
        print(json.dumps(order), file=process.stdin, flush=True)
        code = int(process.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.migrations = folder / "depot" / "migrations"

    def write(self, models: str, settings: str, **files: str) -> None:
        """Its files, without migrations; ``files`` by their names."""
        self.migrations.mkdir(parents=True)
        for package in (self.migrations.parent, self.migrations):
            (package / "__init__.py").touch()
        self.models.write_text(models)
        for name, text in {"settings": settings, "manage": MANAGE, **files}.items():
            (self.folder / f"{name}.py").write_text(text)

    def create(self, models: str = MODELS, settings: str = SETTINGS, rows: str = "") -> None:
        self.write(models, settings)
        inserting = ["&&", "shell", "-c", rows] if rows else []
        self.manage("makemigrations", "depot", "&&", "migrate", *inserting)

    def fill(self) -> None:
        """Insert rows, and give them ids in both columns."""
        commands = ["shell", "-c", ROWS]
        for name in ("public", "number"):
            commands += ["&&", "backfill_ids", f"depot.Order.{name}", *CREATED]
        self.manage(*commands)

    def copy(self, folder: Path) -> "Project":
        shutil.copytree(self.folder, folder)
        return Project(folder)

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return manage(self.folder, *arguments)

    def manage(self, *arguments: str) -> str:
        """Run a command that must succeed; what it printed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shell(self, code: str) -> str:
        """The last line that this prints."""
        return (self.manage("shell", "-v0", "-c", code).splitlines() or [""])[-1]

    def found(self, code: str) -> Any:
        """What the code leaves in ``found``."""
        return json.loads(self.shell(f"import json\n{code}\nprint(json.dumps(found))"))

    def sql(self, *statements: str) -> None:
        """Execute them in the project's database, with their "%"."""
        code = "from django.db import connection; cursor = connection.cursor(); "
        self.shell(code + f"[cursor.execute(each, None) for each in {statements!r}]")

    def backfill(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return self.run("backfill_ids", *arguments)

    def move(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return self.backfill("depot", "--primary-key", *arguments)

    def write_move(self, *arguments: str) -> str:
        """Write the migration of a move, which must be possible; what that printed."""
        return self.manage(
            "backfill_ids", "depot", "--primary-key", "--write-migration", *arguments
        )

    def add_keys(self, *names: str) -> None:
        """Give these models the lines that the plan of a move asks for."""
        for name in names:
            start = f"class {name}(models.Model):\n"
            self.change_models(start, start + KEY)
        imported = "from django_sortable_ids.fields import UUIDv7AutoField\n"
        self.change_models("from django", f"{imported}from django", 1)

    def change_models(self, old: str, new: str, times: int = -1) -> None:
        text = self.models.read_text()
        assert old in text
        self.models.write_text(text.replace(old, new, times))

    def write_migration(self, name: str, dependency: str, operations: str = "") -> None:
        (self.migrations / f"{name}.py").write_text(
            "from django.db import migrations\n\n\n"
            "class Migration(migrations.Migration):\n"
            f"    dependencies = [('depot', {dependency!r})]\n"
            f"    operations = [{operations}]\n"
        )

    @property
    def models(self) -> Path:
        return self.folder / "depot" / "models.py"

    @property
    def names(self) -> list[str]:
        """Of its migrations."""
        return sorted(path.stem for path in self.migrations.glob("0*.py"))
