"""Natural keys: an id replaces a code under its name, and Django renames both after the move."""

import pytest

from tests.marks import own_tables

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
CODE = "code = models.CharField(max_length=4, primary_key=True)"
RENAMING = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("depot", "{}")]
    operations = [
        migrations.RenameField("zip", "code", "id"),
        migrations.RenameField("zip", "old_code", "code"),
    ]
"""
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


def test_another_name_is_refused(project):
    project.change_models(
        CODE,
        "id = UUIDv7Field(primary_key=True)\n    code = models.CharField(max_length=4, null=True)",
    )
    assert project.backfill("depot", "--primary-key").stderr.splitlines() == [
        "BackfillError: the key of depot.Zip was code, and is id now: call it code, and the field "
        "of the old one old_code. Migrations with RenameField give them other names after the move"
    ]


def test_it_is_renamed_after_the_move(project):
    said = project.backfill("depot.Zip", "--primary-key").stderr
    written = said.partition("To replace it, write ")[2].strip().split(" and ")
    project.change_models(CODE, "\n    ".join(written))
    project.write_move()
    project.manage("migrate")
    project.change_models("    code = UUIDv7Field", "    id = UUIDv7Field")
    project.change_models("    old_code = ", "    code = ")
    renaming = RENAMING.format(project.names[-1])
    (project.models.parent / "migrations" / "0003_renamed.py").write_text(renaming)
    project.manage("migrate", "&&", "makemigrations", "--check")
    assert project.found(DUMP) == EXPECTED


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
