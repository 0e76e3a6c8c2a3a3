"""``--write-migration`` writes the file that comes next."""

import re
import sqlite3
from contextlib import closing

import pytest

from .own_project import CREATED, Project

PUBLIC = "depot.Order.public"
FIRST = "0002_constrain_order_public"


@pytest.fixture(scope="module")
def empty_template(tmp_path_factory):
    """Made once, and copied for every test."""
    made = Project(tmp_path_factory.mktemp("template"))
    made.create()
    return made


@pytest.fixture(scope="module")
def template(empty_template, tmp_path_factory):
    filled = empty_template.copy(tmp_path_factory.mktemp("template") / "filled")
    filled.fill()
    return filled


@pytest.fixture
def empty(empty_template, tmp_path):
    return empty_template.copy(tmp_path / "project")


@pytest.fixture
def project(template, tmp_path):
    """Its table has rows, and both columns have ids."""
    return template.copy(tmp_path / "project")


def is_not_null(project, column):
    with closing(sqlite3.connect(project.folder / "depot.sqlite3")) as connection:
        columns = connection.execute("PRAGMA table_info(depot_order)").fetchall()
    return {name: bool(not_null) for _, name, _, not_null, *_ in columns}[column]


def test_it_writes_what_migrate_runs(project):
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.returncode == 0, done.stderr

    def reported():
        lines = project.manage("backfill_ids").splitlines()
        (of_public,) = (line for line in lines if PUBLIC in line)
        return re.split(" {2,}", of_public)[3:]

    assert reported() == ["needs NOT NULL and unique", "migrate depot"]
    source = (project.migrations / f"{FIRST}.py").read_text()
    assert "    atomic = False\n" in source
    assert "('depot', '0001_initial')" in source
    project.manage("migrate")
    assert is_not_null(project, "public")
    verify = f"backfill_ids {PUBLIC} --verify"
    assert reported() == ["needs NOT NULL and unique", verify]
    said = project.manage(*verify.split()).splitlines()[-1]
    assert said.endswith("NOT NULL and unique already; define it so in the model, too.")
    project.change_models("ULIDField(null=True)", "ULIDField(unique=True)")
    project.manage("makemigrations", "--check", "depot")
    assert reported() == ["complete"]


@pytest.mark.parametrize(
    ("edited", "step"),
    [
        ("unique=True", "Next:"),
        ("null=True, unique=True", "Next: remove null=True in the model, then:"),
        ("", "Next: write unique=True in the model, then:"),
    ],
)
def test_an_edited_model_and_other_changes_of_the_field_that_no_migration_has(
    project, edited, step
):
    """They stay for ``makemigrations``."""
    project.change_models("ULIDField(null=True)", f"ULIDField({edited})")
    project.change_models("    public = ULIDField(", '    public = ULIDField(db_comment="old", ')
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.stdout.splitlines()[-2] == step, done.stderr
    project.manage("migrate")
    assert is_not_null(project, "public")
    model = 'ULIDField(db_comment="old", '
    project.change_models(f"{model}{edited})", f"{model}unique=True)")
    project.manage("makemigrations", "depot", "&&", "migrate")


def test_nothing_is_written_where_rows_have_no_id(project):
    """Before a fill, it names the command that fills."""
    project.shell("from depot.models import *; Order.objects.filter(pk=3).update(public=None)")
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.returncode == 1
    assert "1 row without an id" in done.stderr
    project.shell(
        "from depot.models import *; from django_sortable_ids.models import BackfillRun; "
        "BackfillRun.objects.all().delete(); Order.objects.update(public=None)"
    )
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.returncode == 1
    command = f"manage.py backfill_ids {PUBLIC} --created-from created_at"
    assert f"{PUBLIC}: rows have no id yet. Fill them first: {command}" in done.stderr
    assert project.names == ["0001_initial"]


def test_nothing_is_written_or_proposed_while_rows_are_skipped(project):
    project.shell(
        "from depot.models import *; Order.objects.filter(pk=3).update(public=None, "
        "created_at='1900-01-01T00:00Z')"
    )
    done = project.backfill(PUBLIC, *CREATED, "--on-out-of-range=skip", "--verify")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        "No migration follows, because of 1 row skipped, without an id: correct their times, or "
        "give them ids, for example by --on-null=now. Until then, public may be unique=True with "
        "null=True."
    )
    done = project.backfill(PUBLIC, *CREATED, "--on-out-of-range=skip", "--write-migration")
    assert done.returncode == 1
    assert "no migration was written, because of 1 row skipped, without an id" in done.stderr
    assert project.names == ["0001_initial"]


def test_what_the_database_lost_is_written_again(project):
    project.backfill(PUBLIC, "--write-migration")
    project.change_models("public = ULIDField(null=True)", "public = ULIDField(unique=True)")
    project.manage("migrate")
    with closing(sqlite3.connect(project.folder / "depot.sqlite3")) as connection:
        found = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%public%'"
        ((name,),) = connection.execute(found).fetchall()
        connection.execute(f'DROP INDEX "{name}"')
    report = project.manage("backfill_ids")
    (line,) = [each for each in report.splitlines() if each.startswith(PUBLIC)]
    assert line.split(maxsplit=3)[3].startswith("needs unique")
    done = project.manage("backfill_ids", PUBLIC, "--write-migration")
    assert done.splitlines()[-3:] == [
        "Wrote depot/migrations/0003_constrain_order_public.py",
        "Next:",
        "  manage.py migrate depot",
    ]
    project.manage("migrate", "depot", "&&", "makemigrations", "--check", "depot")
    (line,) = [each for each in project.manage("backfill_ids").splitlines() if PUBLIC in each]
    assert line.endswith(" complete")
    both = 'models.UniqueConstraint(fields=["public", "id"], name="both")'
    together = f"public = ULIDField()\n\n    class Meta:\n        constraints = [{both}]"
    project.change_models("public = ULIDField(unique=True)", together)
    project.manage("makemigrations", "depot", "&&", "migrate", "depot")
    (line,) = [each for each in project.manage("backfill_ids").splitlines() if PUBLIC in each]
    assert line.endswith(" complete")


def test_several_leaves_are_all_followed(project):
    for name in ("0002_one", "0002_other"):
        project.write_migration(name, "0001_initial")
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.returncode == 0, done.stderr
    assert "0003_constrain_order_public" in project.names
    project.manage("migrate")
    assert is_not_null(project, "public")


def test_a_file_that_is_there_is_left_alone(project):
    """It comes after the migrations were read."""
    there = project.migrations / f"{FIRST}.py"
    hook = (
        "import builtins, os, pathlib\n"
        "from django.db.migrations.loader import MigrationLoader as M\n"
        "_build, built = M.build_graph, []\n"
        "def build_graph(self):\n"
        "    _build(self)\n"
        "    built.append(self)\n"
        "    if len(built) == 2:  # after that of the check whether they are applied\n"
        f"        pathlib.Path({str(there)!r}).write_text('mine')\n"
        "M.build_graph = build_graph\n"
    )
    with (project.folder / "settings.py").open("a") as file:
        file.write(hook)
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.returncode == 1
    assert f"depot/migrations/{FIRST}.py can't be written: File exists" in done.stderr
    assert there.read_text() == "mine"


SWAP = """
from django.db.migrations import Migration
from django_sortable_ids.operations import SwapSortableID

Migration = type("Migration", (Migration,), {
    "dependencies": [("depot", "0001_initial"), ("django_sortable_ids", "0001_initial")],
    "operations": [SwapSortableID("Order", "public", "number")],
})
"""


def test_a_column_that_a_later_migration_makes_another_is_not_filled(project):
    """The running model has the fields as they are after the swap."""
    (project.migrations / "0002_swap.py").write_text(SWAP)
    project.change_models("public = ULIDField", "public = SnowflakeField")
    project.change_models("number = SnowflakeField", "number = ULIDField")
    for mode in ([], ["--dry-run"], ["--verify"]):
        done = project.backfill("depot.Order.number", *CREATED, *mode)
        assert done.returncode == 1
        assert done.stderr.endswith(
            "\nBackfillError: depot.Order.number is another field in the migrations that are "
            "applied, SnowflakeField: run this with the code of these migrations, or run "
            "makemigrations and migrate first; a key moves by --primary-key. Nothing was "
            "written.\n"
        )


def test_migrations_that_cannot_be_read_are_an_error_at_once(project):
    (project.migrations / "0002_empty.py").touch()
    done = project.backfill(PUBLIC, "--write-migration")
    assert done.returncode == 1
    assert "the migrations can't be read: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


# Tables without rows


def test_an_empty_table_needs_no_source(empty):
    for mode in ("--verify", "--write-migration"):
        done = empty.backfill(PUBLIC, mode)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == "0 rows: nothing to verify"
    empty.manage("migrate")
    assert is_not_null(empty, "public")
