"""The written migration: of several apps, squashed, and in a transaction."""

import pytest

from tests.backfill.own_project import KEY
from tests.marks import own_tables

from .test_command import EDITS, MODELS, ROWS, edited

pytestmark = own_tables

YARD = """
from django.db import models


class Load(models.Model):
    order = models.ForeignKey("depot.Order", models.CASCADE)
"""
LOADS = """
from depot.models import Order
from Yard.models import Load

Load.objects.bulk_create(Load(order=each) for each in Order.objects.all())
"""


def test_one_migration_moves_keys_of_several_apps(create, tmp_path):
    """Also of one whose label has capitals."""
    yard = tmp_path / "project" / "Yard"
    (yard / "migrations").mkdir(parents=True)
    for package in (yard, yard / "migrations"):
        (package / "__init__.py").touch()
    (yard / "models.py").write_text(YARD)
    project = create(MODELS, "Yard")
    project.manage("makemigrations", "Yard", "&&", "migrate", "&&", "shell", "-c", ROWS + LOADS)
    project.add_keys("Customer", "Order")
    path = yard / "models.py"
    path.write_text(f"{EDITS[1]}\n{path.read_text()}{KEY}")
    assert "Wrote depot/migrations/" in project.manage(
        "backfill_ids", "depot", "Yard", "--primary-key", "--write-migration"
    )
    project.manage("migrate", "&&", "makemigrations", "--check")
    count = "from Yard.models import Load; print(Load.objects.get(old_id=2).order.old_id)"
    assert project.shell(count) == "2"


@pytest.fixture
def written(create):
    project = edited(create(MODELS, rows=ROWS))
    project.write_move()
    return project


SHOW = "from depot.models import Order; print(Order.objects.filter(customer__old_id=2).count())"


def test_squashed_it_runs_on_an_empty_database_and_where_it_is_applied(written):
    squash = ["squashmigrations", "depot", "0002", "--noinput"]
    written.manage("migrate", "&&", *squash, "&&", "migrate")
    written.manage("makemigrations", "--check")
    assert written.shell(SHOW) == "1"
    written.manage("migrate", "depot", "zero", "&&", "migrate", "django_sortable_ids", "zero")
    written.manage("migrate", "&&", "shell", "-c", ROWS)
    assert written.shell(SHOW) == "0"


def test_it_runs_in_the_transaction_that_a_squashed_migration_has(written):
    (path,) = written.migrations.glob("0002_*.py")
    path.write_text(path.read_text().replace("atomic = False", "atomic = True"))
    written.manage("migrate")
    assert written.shell(SHOW) == "1"
    written.manage("migrate", "depot", "0001")
