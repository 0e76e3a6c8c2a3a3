"""A key that another field replaces: a country's code stays, and an id becomes the key."""

import pytest

from tests.marks import own_tables

from . import stops
from .own_database import TYPES

pytestmark = own_tables

MODELS = """
from django.db import models
from django_sortable_ids.fields import ULIDField, UUIDv7AutoField, UUIDv7Field


class Office(models.Model):
    office_id = models.AutoField(primary_key=True)
    name = models.CharField(max_length=30)


class Municipality(models.Model):
    code = models.CharField(max_length=2, primary_key=True, db_column="m_code")
    name = models.CharField(max_length=100)


class Zip(models.Model):
    code = models.CharField(max_length=4, primary_key=True)
    municipality = models.ForeignKey(Municipality, models.CASCADE)
    offices = models.ManyToManyField(Office)
"""
EDITED = {
    "office_id = models.AutoField(primary_key=True)": (
        "id = UUIDv7AutoField(primary_key=True)\n"
        "    old_id = models.IntegerField(null=True, unique=True, editable=False)"
    ),
    'code = models.CharField(max_length=2, primary_key=True, db_column="m_code")': (
        "id = ULIDField(primary_key=True)\n"
        '    code = models.CharField(max_length=2, unique=True, db_column="m_code")'
    ),
    "code = models.CharField(max_length=4, primary_key=True)": (
        "id = UUIDv7Field(primary_key=True)\n    code = models.CharField(max_length=4, unique=True)"
    ),
}
ROWS = """
from depot.models import *

offices = [Office.objects.create(name=name) for name in "abc"]
for code, name in (("03", "x"), ("11", "y")):
    municipality = Municipality.objects.create(code=code, name=name)
    for last in "12":
        one = Zip.objects.create(code=f"{code}0{last}", municipality=municipality)
        one.offices.set(offices[int(last):])
"""
DUMP = """
from depot.models import *

found = [
    [one.code, one.municipality.code, one.municipality.name, [o.name for o in one.offices.all()]]
    for one in Zip.objects.order_by("code")
]
"""
EXPECTED = [
    ["0301", "03", "x", ["b", "c"]],
    ["0302", "03", "x", ["c"]],
    ["1101", "11", "y", ["b", "c"]],
    ["1102", "11", "y", ["c"]],
]


@pytest.fixture
def project(create):
    return create(MODELS, rows=ROWS)


def edit(project):
    for before, after in EDITED.items():
        project.change_models(before, after)


def test_it_moves_and_comes_back(project):
    edit(project)
    printed = project.write_move().splitlines()
    assert "depot.Zip.id: UUIDv7Field, 4 rows; the old key stays as code" in printed
    assert "  depot_zip_offices.zip_id" in printed
    wrote = [line for line in printed if line.startswith("Wrote")]
    first, second = project.names[1:]
    assert wrote == [
        f"Wrote depot/migrations/{first}.py",
        f"Wrote depot/migrations/{second}.py, which gives keys and old keys their names",
    ]
    project.manage(
        "migrate", "&&", "makemigrations", "--check", "&&", "check", "--database", "default"
    )
    assert project.found(DUMP) == EXPECTED
    code = "from depot.models import *; print([z.id.version for z in Zip.objects.all()])"
    assert project.shell(code) == "[7, 7, 7, 7]"
    models = project.models.read_text()
    project.models.write_text(MODELS)
    done = project.run("check", "--database", "default")
    assert done.returncode == 1
    assert done.stderr.count("(sortable_ids.E021) The key was moved in the database") == 3
    project.models.write_text(models)
    project.shell(
        "from depot.models import *; Zip.objects.create(code='1200', "
        "municipality=Municipality.objects.get(code='11'))"
    )
    project.manage("migrate", "depot", "0001")
    project.models.write_text(MODELS)
    assert project.found(DUMP) == [*EXPECTED, ["1200", "11", "y", []]]


def test_a_stop_between_two_columns(depot, monkeypatch):
    key, kept = "CharField(max_length=2, primary_key=True)", "IntegerField(null=True)"
    depot.write(
        f'CreateModel("Country", [("code", {key}), ("old_code", {kept}), ("name", TextField())]),'
    )
    depot.migrate()
    depot.model("Country").objects.create(code="CH", old_code=1, name="x")
    depot.write(
        f'RenameMovedKey("Country", [("code", "id", {key}), ("old_code", "code", {kept})]),',
        atomic=False,
    )
    monkeypatch.setattr(stops, "EVERY", 1)
    assert stops.migrate_until_done(depot) > 1
    assert list(depot.model("Country").objects.values_list("id", "code")) == [("CH", 1)]
    assert stops.migrate_until_done(depot, "0001_step") > 1
    assert list(depot.model("Country").objects.values_list("code", "old_code")) == [("CH", 1)]


def refused(project):
    done = project.move("--write-migration")
    assert done.returncode == 1
    assert project.names == ["0001_initial"]
    return done.stderr.split("BackfillError: ")[1].splitlines()


META = (
    "\n\n    class Meta:\n        indexes = [models.Index(fields=['code', 'name'], name='by_code')]"
)


def test_an_index_of_the_old_key(project):
    name = "name = models.CharField(max_length=100)"
    project.change_models(name, name + META)
    project.manage("makemigrations", "depot", "&&", "migrate")
    edit(project)
    done = project.move("--write-migration")
    assert done.stderr.split("BackfillError: ")[1].splitlines() == [
        "depot.Municipality: by_code contains code, and the key is id now: remove it and migrate, "
        "move the key, and add it again"
    ]


def test_a_foreign_key_that_names_the_old_key(project):
    edit(project)
    key = "(Municipality, models.CASCADE"
    project.change_models(f"{key})", f"{key}, to_field='code')")
    assert refused(project) == [
        "depot.Zip.municipality refers to code, and the key is id now: leave out its to_field"
    ]
    project.change_models(", to_field='code')", ")")
    project.write_move()


def test_a_natural_key_that_is_no_longer_unique(project):
    edit(project)
    project.change_models("max_length=4, unique=True", "max_length=4")
    assert refused(project) == ["depot.Zip.code, which was the key: expected unique=True"]


def test_a_text_with_the_name_of_the_new_key(create):
    """What to write for it is said, and moves it: also for a field of a class of its own."""
    key = "id = Code(max_length=9, primary_key=True)"
    imports = "from django.db import models\nfrom django_sortable_ids.fields import UUIDv7Field\n"
    own = "class Code(models.CharField):\n    pass\n"
    project = create(f"{imports}\n\n{own}\n\nclass Thing(models.Model):\n    {key}\n")
    said = project.backfill("depot", "--primary-key").stderr
    written = said.partition("To replace it, write ")[2].strip().split(" and ")
    assert written[1] == "old_id = models.CharField(max_length=9, null=True, unique=True, " + (
        "editable=False)"
    )
    project.change_models(key, "\n    ".join(written))
    assert "; the old key stays as old_id" in project.write_move()


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


def test_a_key_that_a_history_copies(create):
    pytest.importorskip("simple_history")
    key = "code = models.CharField(max_length=2, primary_key=True)"
    project = create(WITH_HISTORY.format(key), *TYPES)
    new = "code = models.CharField(max_length=2, unique=True)"
    project.change_models(key, f"id = UUIDv7Field(primary_key=True)\n    {new}")
    assert refused(project) == [
        "depot.HistoricalCountry.code copies code, and the key is id now: before the move, "
        "rename code to id by RenameField in both models; move id with old_id; and rename that "
        "to code"
    ]


WITH_HISTORY = """
from django.db import models
from django_sortable_ids.fields import UUIDv7Field
from simple_history.models import HistoricalRecords


class Country(models.Model):
    {}
    history = HistoricalRecords()
"""
