"""Fields with wrong options: a project starts, and each command lists all of them."""

import re

import pytest

from tests.backfill.own_project import SETTINGS, WITH_PAGES, Project

URLS = """
from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]
"""
ADMIN = """
from django.contrib import admin
from django_sortable_ids.admin import SortableIDAdmin
from django import forms
from depot.models import *

class OrderForm(forms.ModelForm):
    class Meta:
        model = Order
        fields = ["id", "parent", "masked"]

@admin.register(Order)
class OrderAdmin(SortableIDAdmin):
    form = OrderForm
"""
MODELS = """
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django_sortable_ids.fields import *
from django_sortable_ids.functions import GenerateID


class Tag(models.Model):
    content_type = models.ForeignKey(ContentType, models.CASCADE)
    object_id = ULIDField(prefix="Tag", unique=True)
    subject = GenericForeignKey()


class Order(models.Model):
    id = UUIDv7Field(
        primary_key=True, editable=True, prefix="Order", separator="-", encoding="base64"
    )
    parent = models.ForeignKey("self", models.CASCADE, null=True)
    masked = ULIDField(unique=True, masked=True, storage="char32", editable=True, default="x")
    both = UUIDv7Field(unique=True, masked=True, accept_other_versions=True)
    snowflake = SnowflakeField(unique=True, layout="x", db_default=GenerateID())
    typed = SnowflakeField(unique=True, epoch_ms="2020-01-01")
    lists = SnowflakeField(unique=True, time_bits=[41])
    node = TSIDField(unique=True, node_bits=21)
    other = ULIDField(unique=True, db_default=GenerateID("uuid7"))
    counted = LexicalSequenceField(unique=True, db_default=GenerateID())
    number = LexicalSequenceField(unique=True, block=0, width="4")
    wide = ULIDField(unique=True, storage="varchar", max_length=25)
    right = ULIDField(unique=True)
    tags = GenericRelation(Tag)

    class Meta:
        ordering = ["id"]
"""
FOUND = [
    ("Tag.object_id", "E013", "prefix='Tag': expected 1 to 63"),
    ("Order.both", "E013", "accept_other_versions=True and masked=True"),
    ("Order.counted", "E015", "ids of the scheme lexical sequence count"),
    ("Order.id", "E013", "UUIDv7 has no encoding 'base64'"),
    ("Order.id", "E013", "prefix='Order': expected 1 to 63"),
    ("Order.id", "E013", "separator='-': expected"),
    ("Order.lists", "E012", "time_bits=[41]: unhashable type: 'list'"),
    ("Order.masked", "E013", "masked=True: only UUIDv7 can be masked, not ULID"),
    ("Order.masked", "E014", "storage='char32': expected one of uuid"),
    ("Order.masked", "E015", "ULIDField generates its own ids and takes no default"),
    ("Order.node", "E012", "time_bits=41, node_bits=21, sequence_bits=1: expected"),
    ("Order.number", "E012", "block=0: expected how many numbers"),
    ("Order.number", "E012", "width='4': "),
    ("Order.other", "E015", "GenerateID() generates UUIDv7 with storage=None"),
    ("Order.snowflake", "E012", "layout='x': expected 'twitter' or"),
    ("Order.typed", "E012", "epoch_ms='2020-01-01': expected a whole number"),
    ("Order.wide", "E014", "max_length=25: expected 26 or more"),
]


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    made.write(MODELS, SETTINGS + WITH_PAGES, urls=URLS)
    (tmp_path / "depot" / "admin.py").write_text(ADMIN)
    return made


@pytest.mark.parametrize("command", ["check", "migrate"])
def test_a_command_lists_all_wrong_options(project, command):
    done = project.run(command)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = re.findall(r"depot\.(\w+\.\w+): \(sortable_ids\.(E\d+)\) (.*)\n\tHINT: ", done.stderr)
    assert len(found) == len(FOUND)
    for (where, kind, message), (field, expected, start) in zip(
        sorted(found), sorted(FOUND), strict=True
    ):
        assert (where, kind) == (field, expected)
        assert message.startswith(start)


def test_a_migration_with_wrong_options_is_read(project):
    """Its public text is no business of the column."""
    (project.folder / "depot/admin.py").write_text("")
    models = "from django.db import models\nfrom django_sortable_ids.fields import *\n"
    order = "class Order(models.Model):\n    id = UUIDv7Field(primary_key=True, {})\n"
    path = project.models
    path.write_text(models + order.format("prefix='a'"))
    assert project.run("makemigrations").returncode == 0
    migration = project.migrations / "0001_initial.py"
    migration.write_text(migration.read_text().replace("prefix='a'", "prefix='A'"))
    assert project.run("makemigrations").returncode == 0
    assert "prefix='a'" in next(project.migrations.glob("0002*")).read_text()
    done = project.run("migrate")
    assert done.returncode == 0, done.stderr
    migration.write_text(migration.read_text().replace("prefix='A'", "storage='A'"))
    path.write_text(models + order.format("prefix='b'"))
    (project.folder / "depot.sqlite3").unlink()
    done = project.run("migrate")
    assert done.returncode == 1
    assert "ImproperlyConfigured: depot.Order.id: storage='A': expected one of" in done.stderr
