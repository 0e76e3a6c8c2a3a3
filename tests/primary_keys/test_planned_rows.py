"""The plan of a move refuses what ``migrate`` would refuse when the application is stopped."""

import pytest
from django.db import connection

from tests.marks import own_tables

pytestmark = own_tables

MODELS = """
from datetime import UTC, datetime
from django.db import connection, models
from django_sortable_ids.fields import *


class Customer(models.Model):
    {}
    joined = models.DateTimeField(null=True)
"""
ROWS = """
from depot.models import *

key = Customer._meta.get_field("id")
for day in (8, 9, 10):
    joined = datetime(2024, 3, day, 7, 30, tzinfo=UTC)
    {}

def execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
"""
NUMBER = "id = models.BigAutoField(primary_key=True)"
ULID = "id = ULIDField(primary_key=True)"
OLD = "old_id = models.BigIntegerField(null=True, unique=True, editable=False)"
AUTO = "id = UUIDv7AutoField(primary_key=True)"
CREATED = "Customer.objects.create(joined=joined)"
GENERATED = "Customer.objects.create(pk=key.scheme.generate(joined.replace(year={})))"
LATE = "Customer.objects.create(joined=joined.replace(year=2222))"
TOO_OLD = "Customer.objects.filter(pk=2).update(joined=datetime(1969, 7, 20, tzinfo=UTC))"
EMPTY = "Customer.objects.filter(pk=2).update(joined=None)"
FROM = "--created-from=joined"
CASES = {
    "too_old": (
        NUMBER, AUTO, CREATED, TOO_OLD, [FROM],
        "Customer 2 is too old: UUIDv7 begins at 1970-01-01 00:00:00+00:00. Correct its time; "
        "nothing was written",
    ),
    "empty": (NUMBER, AUTO, CREATED, EMPTY, [FROM], "Customer 2 has no joined. Give it one, or "),
    "period": (
        NUMBER, AUTO, CREATED, "", ["--created-from=pk", "--start=1960-01-01", "--end=2020-01-01"],
        "--end 2020-01-01: UUIDv7 has times from 1970-01-01 00:00:00+00:00 to ",
    ),
    "most_times_after_now": (
        NUMBER, AUTO, LATE, "Customer.objects.filter(pk=2).update(joined=joined)", [FROM],
        "2 of 3 rows of depot.Customer have a joined after now, and new ids would sort before "
        "theirs. Name other times by --created-from, or, if these are right, name "
        "them by created_from= of the field; nothing was written",
    ),
    "old_id_after_now": (
        ULID, AUTO, GENERATED.format(2222), "", [],
        "Customer.id: 3 of 3 sampled ids would be of a time after now, such as 2222-03-08",
    ),
}  # fmt: skip


@pytest.fixture
def edited(create):
    """Creates the project with these models, and edits the key."""

    def edited(before, after, rows, more=""):
        project = create(MODELS.format(before), rows=rows, more=more)
        project.change_models(before, after)
        return project

    return edited


def written(project, *arguments):
    done = project.move("--drop-old", "--write-migration", *arguments)
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", CASES)
def test_refused(edited, name):
    before, after, rows, more, source, expected = CASES[name]
    project = edited(before, after, f"{ROWS.format(rows)}\n{more}")
    code, error = written(project, *source)
    assert expected in error
    assert (code, project.names) == (1, ["0001_initial"])


def test_rows_without_a_time_get_keys_of_now(edited):
    before, after, rows, more, source, _ = CASES["empty"]
    project = edited(before, after, f"{ROWS.format(rows)}\n{more}")
    assert written(project, *source, "--on-null=now") == (0, "")
    assert "on_null='now'" in (project.migrations / f"{project.names[-1]}.py").read_text()
    project.manage("migrate")


REQUIRED = "{'init_command': 'SET SESSION sql_require_primary_key = 1'}"


@pytest.mark.skipif(connection.vendor != "mysql", reason="a setting of MySQL")
def test_a_server_that_refuses_tables_without_a_primary_key(edited):
    if connection.mysql_is_mariadb:
        pytest.skip("MariaDB has no such setting for a session")
    options = f"DATABASES['default']['OPTIONS'] = {REQUIRED}\n"
    project = edited(NUMBER, AUTO, ROWS.format(CREATED), options)
    assert written(project, FROM) == (0, "")
    project.manage("migrate")


ROUTED = """
DATABASES["logs"] = {
    "ENGINE": "django.db.backends.sqlite3", "NAME": str(Path(__file__).parent / "logs.sqlite3")
}


class Router:
    def allow_migrate(self, db, app_label, model_name=None, **hints):
        return (db == "logs") == (model_name == "visit")


DATABASE_ROUTERS = [Router()]
"""
VISIT = f"""{NUMBER}


class Visit(models.Model):
    customer = models.ForeignKey(Customer, models.DO_NOTHING, db_constraint=False)
"""


def test_a_column_of_another_database_is_a_warning(create):
    project = create(f"{MODELS.format(NUMBER)}{VISIT.removeprefix(NUMBER)}", more=ROUTED)
    project.change_models(NUMBER, AUTO)
    said = "depot_visit contains keys, and the database 'default' has no such table"
    assert f"warning: {said}: no move changes those of another one" in (
        project.move("--drop-old").stdout
    )


@pytest.mark.parametrize("year", [2222, 2024])
def test_the_only_times_are_no_source_if_most_are_after_now(edited, year):
    starts = "starts_at = models.DateTimeField()\n    day = models.DateField(null=True)\n    "
    rows = ROWS.format(f"Customer.objects.create(starts_at=joined.replace(year={year}))")
    project = edited(f"{starts}{NUMBER}", f"{starts}{AUTO}", rows)
    period = ("--drop-old", "--created-from=pk", "--start=2020-01-01", "--end=2021-01-01")
    found = [
        "now, in the order of the old key; --created-from takes starts_at or day",
        "2020-01-01 to 2021-01-01, in the order of",
    ]
    for source, expected in zip([("--drop-old",), period], found, strict=True):
        expected = "starts_at" if year == 2024 else expected
        assert f"  times from {expected}" in project.move(*source).stdout


def test_keys_of_times_after_now_can_be_moved_back(edited):
    kept = AUTO.replace("=True", "=True, created_from='joined'") + f"\n    {OLD}"
    project = edited(NUMBER, kept, ROWS.format(LATE))
    project.write_move(FROM)
    project.manage("migrate")
    project.change_models(", created_from='joined'", "")
    project.manage("makemigrations", "depot", "&&", "migrate")
    done = project.run("check", "--database", "default")
    assert (done.returncode, done.stderr.count("(sortable_ids.W011)")) == (0, 1)
    assert "undo the move by `manage.py migrate depot` with the name of the" in done.stderr
    project.manage("migrate", "depot", "0001")


MADE = "made = models.DateTimeField(auto_now_add=True)\n    "


def test_the_time_in_the_old_key_comes_before_a_field_of_times(edited):
    done = edited(f"{MADE}{ULID}", f"{MADE}{AUTO}", ROWS.format(CREATED)).move("--drop-old")
    assert "  times from the ids in id\n" in done.stdout, done.stderr
