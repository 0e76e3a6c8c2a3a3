"""The plan of a move lists what the migration can't change: each marked line, and no other."""

import json
import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import connection
from django.db.migrations.state import ProjectState

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.operations import MigratePrimaryKey, MovedKey
from django_sortable_ids.primary_keys.looking import values
from django_sortable_ids.primary_keys.looking.names import Names
from tests.backfill.own_project import Project

from . import looked_at

FILES = {
    "depot/models.py": looked_at.MODELS,
    "depot/views.py": looked_at.CODE,
    "depot/tasks.py": looked_at.TASKS,
    "depot/templates/customer.html": looked_at.TEMPLATE,
    "urls.py": looked_at.URLS,
}
MARK = re.compile(r"(?:#|//|<!--) (\w+)(?: -->)?$")
KEY = "    id = UUIDv7AutoField(primary_key=True)\n"
OLD = "    old_id = models.BigIntegerField(null=True, unique=True, editable=False)\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("project"))
    made.create(looked_at.MODELS)
    made.manage("shell", "-c", looked_at.ROWS)
    for name, text in FILES.items():
        path = made.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    settings = made.folder / "settings.py"
    settings.write_text(settings.read_text() + looked_at.SETTINGS)
    edit(made, "UUIDv7AutoField")
    return made


def edit(project, field):
    models = project.folder / "depot" / "models.py"
    text = looked_at.MODELS.replace(
        "class Customer(models.Model):\n",
        f"class Customer(models.Model):\n{KEY.replace('UUIDv7AutoField', field)}{OLD}",
    )
    models.write_text(f"from django_sortable_ids.fields import {field}\n{text}")


def found(project, *arguments):
    done = project.backfill("depot.Customer", "--primary-key", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["findings"]


def marked(project):
    """Kind, file and line of each mark."""
    for name in ["settings.py", *FILES]:
        for number, line in enumerate((project.folder / name).read_text().splitlines(), 1):
            if match := MARK.search(line):
                yield match[1], name, number


def test_each_marked_line_and_no_other(project):
    in_files = [each for each in found(project) if each["line"]]
    places = sorted((each["kind"], each["file"], each["line"]) for each in in_files)
    assert set(places) ^ set(marked(project)) == set()
    assert places == sorted(marked(project))


def test_values_that_are_keys(project):
    columns = {each["file"]: each for each in found(project) if not each["line"]}
    assert {name: (each["kind"], each["text"]) for name, each in columns.items()} == {
        "depot_order.customer_id": ("column", "3 of 3 values are keys of depot.Customer"),
        "depot_order.extra": ("document", "customer.id, customer_id"),
        "depot_order.recommended_customer_ids": ("column", "several keys, such as 1,2"),
    }
    assert all(each["advice"] for each in columns.values())


def test_the_plan_shows_the_first_of_each_kind(project):
    plan = project.backfill("depot.Customer", "--primary-key").stdout.splitlines()
    count = len(found(project))
    assert f"Look at {count} places that the move doesn't change:" in plan
    start = plan.index("  expect a text or a UUID, which is no number:")
    numbers = sum(kind == "number" for kind, *_ in marked(project))
    assert plan[start + 1].startswith("    depot/models.py:")
    assert plan[start + 11] == f"    and {numbers - 10} more, which -v 2 shows"
    everything = project.backfill("depot.Customer", "--primary-key", "-v2").stdout
    assert "more, which" not in everything
    assert everything.count("depot/views.py:") == plan_lines(project, "depot/views.py")


def plan_lines(project, file):
    return sum(name == file for _, name, _ in marked(project))


def test_a_key_that_stays_a_number_may_be_calculated_with(project):
    edit(project, "SnowflakeField")
    try:
        kinds = {each["kind"] for each in found(project)}
    finally:
        edit(project, "UUIDv7AutoField")
    assert not kinds & {"number", "url", "input", "template", "json"}
    assert kinds >= {"constant", "sql", "task", "session", "cache", "signed", "column", "document"}


@pytest.mark.django_db(transaction=True)
def test_tables_that_no_model_has():
    group = Group.objects.create(name="a")
    kind = "text" if connection.vendor == "sqlite" else "json"
    group_column, groups = map(connection.ops.quote_name, ("group", "groups"))
    operation = MigratePrimaryKey([MovedKey("auth.Group", "id", UUIDv7Field(primary_key=True))])
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE legacy (group_id integer, former_group_id varchar(9), group_ids text, "
            f"unused_group_id integer, other_group_id integer, {groups} text, "
            f"extra {kind}, note text, {group_column} varchar(9))"
        )
        cursor.execute(
            "INSERT INTO legacy VALUES (%s, %s, '1,2', NULL, 77777, '1', %s, '{no JSON', %s)",
            [group.pk, str(group.pk), '{"group_id": 1}', group.pk],
        )
        try:
            move = operation.move_of(connection.schema_editor(), ProjectState.from_apps(apps))
            found = list(values.found(connection, move.change, Names(["auth.Group"])))
        finally:
            cursor.execute("DROP TABLE legacy")
    one = "1 of 1 values are keys of auth.Group"
    assert {each.file: each.text for each in found} == {
        "legacy.group_id": one,
        "legacy.former_group_id": one,
        "legacy.group": one,
        "legacy.group_ids": "several keys, such as 1,2",
        "legacy.unused_group_id": "no values",
        "legacy.extra": "group_id",
    }
