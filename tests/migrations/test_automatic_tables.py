"""Tables of many-to-many relations, whose keys no migration names."""

import os
import subprocess
import sys

import pytest

from tests.backfill.own_project import Project
from tests.marks import own_tables
from tests.primary_keys.own_database import settings_of_project
from tests.support import ROOT

pytestmark = own_tables

MODELS = """
from django.db import models


class Tag(models.Model):
    name = models.CharField(max_length=9)


class Order(models.Model):
    tags = models.ManyToManyField(Tag)
"""
APPS = """
from django.apps import AppConfig


class DepotConfig(AppConfig):
    name = "depot"
"""
ROWS = """
from django.contrib.auth.models import Group, Permission
from django.db.migrations.recorder import MigrationRecorder
from depot.models import Order, Tag

order = Order.objects.create()
order.tags.add(*[Tag.objects.create() for _ in range(3)])
group = Group.objects.create(name="g")
group.permissions.add(*Permission.objects.all()[:3])
models = (Order, Order.tags.through, Group.permissions.through, MigrationRecorder.Migration)
keys = [type(each._meta.pk).__name__ for each in models]
print(order.tags.count(), group.permissions.count(), *keys)
"""
DJANGOS = "django.db.models.BigAutoField"


def ours(name="UUIDv7"):
    return f"django_sortable_ids.fields.{name}AutoField"


@pytest.fixture
def project(tmp_path):
    with settings_of_project("django.contrib.auth", "django.contrib.contenttypes") as text:
        made = Project(tmp_path / "project")
        made.settings = text
        (made.folder / "depot").mkdir(parents=True)
        yield made


def choose(project, everywhere, own=None):
    """The classes of keys in the settings and of the app."""
    project.settings += f"DEFAULT_AUTO_FIELD = {everywhere!r}\n"
    config = f"    default_auto_field = {own!r}\n" if own else ""
    (project.folder / "depot" / "apps.py").write_text(APPS + config)
    settings = project.folder / "settings.py"
    if settings.exists():
        settings.write_text(project.settings)


@pytest.mark.parametrize(
    ("everywhere", "own", "of_the_app"),
    [
        (ours(), None, "UUIDv7AutoField"),
        (ours("ULID"), DJANGOS, "BigAutoField"),
        (DJANGOS, ours("Snowflake"), "SnowflakeAutoField"),
    ],
)
def test_a_new_project_stores_all_rows(project, everywhere, own, of_the_app):
    choose(project, everywhere, own)
    project.create(MODELS, project.settings)
    found = project.manage("shell", "-c", ROWS).split()[-6:]
    assert found == ["3", "3", of_the_app, of_the_app, "AutoField", "BigAutoField"]
    project.manage("makemigrations", "--check", "&&", "check", "--database", "default")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [(DJANGOS, ours(), "counts"), (ours("Snowflake"), DJANGOS, "doesn't count")],
)
def test_a_table_that_exists_with_another_key_is_refused(project, before, after, found):
    choose(project, before)
    project.create(MODELS, project.settings)
    choose(project, after)
    project.write_migration("0002_next", "0001_initial")
    table = f"database {found} depot_order_tags.id, which is of type {after.rpartition('.')[2]} by"
    for arguments in ("check --database default", "migrate", "migrate --skip-checks"):
        done = project.run(*arguments.split())
        assert done.returncode
        assert table in done.stderr, arguments
        assert "auth_" not in done.stderr
        assert "default_auto_field" in done.stderr
    assert "[ ] 0002_next" in project.manage("showmigrations", "depot")


OTHER = """
import uuid
from django.db import models


class OtherAutoField(models.UUIDField, models.AutoField):
    validators, db_returning, rel_db_type = [], False, models.Field.rel_db_type

    def __init__(self, **options):
        super().__init__(**{"default": uuid.uuid4, **options})
"""


def test_keys_of_another_package_that_no_database_counts(project):
    (project.folder / "depot" / "keys.py").write_text(OTHER)
    choose(project, "depot.keys.OtherAutoField")
    project.create(MODELS, f"{project.settings}INSTALLED_APPS.remove('django.contrib.auth')\n")
    project.write_migration("0002_next", "0001_initial")
    project.manage("check", "--database", "default", "&&", "migrate")
    code = "from depot.models import *; order = Order.objects.create(); "
    code += "order.tags.add(Tag.objects.create()); print(order.tags.count())"
    assert project.shell(code) == "1"


UNMANAGED = """

class Pair(models.Model):
    tags = models.ManyToManyField("self")

    class Meta:
        managed = False
"""
BY_HAND = """
from django.db import connection
from depot.models import Pair

random = {"sqlite": "abs(random())", "postgresql": "1e9 * random()"}
random = random.get(connection.vendor, "floor(1e9 * rand())")
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE depot_pair (id bigint PRIMARY KEY)")
    columns = f"id bigint DEFAULT ({random}), from_pair_id bigint, to_pair_id bigint"
    cursor.execute(f"CREATE TABLE depot_pair_tags ({columns})")
"""


def test_a_table_of_another_system_that_fills_its_key_otherwise(project):
    choose(project, DJANGOS)
    project.create(MODELS + UNMANAGED, project.settings)
    project.shell(BY_HAND)
    project.manage("check", "--database", "default", "&&", "migrate")


def test_a_database_of_migrations_that_no_check_came_before_takes_more(project):
    """Nothing has imported the class of the setting: no model of the first migrations names it."""
    choose(project, ours())
    project.write("", project.settings)
    first = [sys.executable, "manage.py", "migrate", "--skip-checks"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        first, cwd=project.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (project.folder / "depot" / "models.py").write_text(MODELS)
    project.manage("makemigrations", "depot", "&&", "migrate")
    assert "[X] 0001_initial" in project.manage("showmigrations", "depot")
