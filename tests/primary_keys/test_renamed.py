"""A key that another field replaces, such as a country's code, which stays as a field."""

import pytest

from tests.marks import own_tables

from .own_database import TYPES

pytestmark = own_tables

MODELS = """
from django.db import models
from django_sortable_ids.fields import UUIDv7Field
from simple_history.models import HistoricalRecords


class Country(models.Model):
    {}
    history = HistoricalRecords()


class City(models.Model):
    country = models.ForeignKey(Country, models.CASCADE)
"""
KEY = "code = models.CharField(max_length=2, primary_key=True)"
NEW = "id = UUIDv7Field(primary_key=True)\n    {}CharField(max_length=2, unique=True{})"
ROWS = """
from depot.models import *

country = Country(code="CH")
country.save()
City.objects.create(country=country)
"""


def refused(project):
    done = project.move("--write-migration")
    assert done.returncode == 1
    assert project.names == ["0001_initial"]
    return done.stderr.split("BackfillError: ")[1].splitlines()


def test_it_is_renamed_and_moved_and_its_old_values_are_renamed(create):
    """As the message says: in its history, too."""
    pytest.importorskip("simple_history")
    project = create(MODELS.format(KEY), *TYPES, rows=ROWS)
    final = NEW.format("code = models.", "")
    project.change_models(KEY, final)
    assert refused(project) == [
        "depot.Country: the key code can't be moved to another name, id: first rename it to id in "
        "the model, and run makemigrations and migrate; then move it; at last rename old_id to code"
    ]
    rename(project, "0002_a", "0001_initial", "code", "id")
    renamed = KEY.replace("code", "id")
    project.change_models(final, renamed)
    project.manage("makemigrations", "--check", "&&", "migrate")
    moved = NEW.format("old_id = models.", ", null=True")
    project.change_models(renamed, moved)
    project.write_move()
    project.manage("migrate")
    rename(project, "0004_b", project.names[-1], "old_id", "code")
    project.change_models(moved, final)
    project.manage("makemigrations", "--noinput", "&&", "migrate")
    code = "from depot.models import *; c = Country.objects.get(); h = c.history.get(); "
    code += "print(c.code, h.code, h.id == c.id, c.id.version, City.objects.get().country == c)"
    assert project.shell(code) == "CH CH True 7 True"


def rename(project, name, after, old, new):
    models = ("country", "historicalcountry")
    renamings = (f"migrations.RenameField({model!r}, {old!r}, {new!r})" for model in models)
    project.write_migration(name, after, ", ".join(renamings))


def test_a_key_of_several_columns(create):
    fields = "\n    a = models.IntegerField()\n    b = models.IntegerField()\n"
    start = "from django_sortable_ids.fields import UUIDv7Field\nfrom django.db import models\n\n\n"
    model = f"{start}class Line(models.Model):{fields}    {{}}\n"
    composite, new = (
        'pk = models.CompositePrimaryKey("a", "b")',
        "id = UUIDv7Field(primary_key=True)",
    )
    project = create(model.format(composite))
    project.change_models(composite, new)
    for name in ("depot", "depot.Line"):
        done = project.backfill(name, "--primary-key")
        assert "depot.Line.id replaces the CompositePrimaryKey, which can't be moved" in done.stderr
