"""One migration, in the first app, moves the keys of several apps."""

import pytest

from tests.backfill.own_project import SETTINGS, Project
from tests.primary_keys.test_command import EDITS, MODELS, ROWS, move

YARD = """
from django.db import models


class Load(models.Model):
    order = models.ForeignKey("depot.Order", models.CASCADE)
"""
LOADS = """
from depot.models import Order
from yard.models import Load

Load.objects.bulk_create(Load(order=each) for each in Order.objects.all())
"""
KEY = "    id = UUIDv7AutoField(primary_key=True)\n    old_id = "
KEY += "models.BigIntegerField(null=True, unique=True, editable=False)\n"


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    yard = tmp_path / "yard"
    (yard / "migrations").mkdir(parents=True)
    for package in (yard, yard / "migrations"):
        (package / "__init__.py").touch()
    (yard / "models.py").write_text(YARD)
    made.create(MODELS)
    (tmp_path / "settings.py").write_text(SETTINGS.replace('"depot"]', '"depot", "yard"]'))
    made.manage("makemigrations", "yard", "&&", "migrate", "&&", "shell", "-c", ROWS + LOADS)
    for path in (tmp_path / "depot/models.py", yard / "models.py"):
        text = f"{EDITS[1]}\n{path.read_text()}"
        for name in ("Customer", "Order", "Load"):
            text = text.replace(
                f"class {name}(models.Model):\n", f"class {name}(models.Model):\n{KEY}"
            )
        path.write_text(text)
    return made


def test_migrate_moves_keys_of_apps_whose_migrations_are_applied(project):
    done = move(project, "depot", "yard", "--write-migration")
    assert done.returncode == 0, done.stderr
    assert "Wrote depot/migrations/" in done.stdout
    project.manage("migrate")
    assert project.manage("makemigrations", "--check")
    count = "from yard.models import Load; print(Load.objects.get(old_id=2).order.old_id)"
    assert project.manage("shell", "-v0", "-c", count).strip() == "2"
