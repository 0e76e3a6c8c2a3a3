"""Migrations that are squashed with a move in them."""

import pytest

from tests.backfill.own_project import Project
from tests.primary_keys.own_database import settings_of_project
from tests.primary_keys.test_command import MODELS, ROWS, edited, move


@pytest.fixture
def project(tmp_path, transactional_db):
    made = Project(tmp_path)
    with settings_of_project() as settings:
        made.create(MODELS, settings, rows=ROWS)
        edited(made)
        done = move(made, "depot", "--write-migration")
        assert done.returncode == 0, done.stderr
        yield made


SHOW = "from depot.models import Order; print(Order.objects.filter(customer__old_id=2).count())"


def test_they_run_on_an_empty_database_and_where_they_are_applied(project):
    project.manage(
        "migrate", "&&", "squashmigrations", "depot", "0002", "--noinput", "&&", "migrate"
    )
    assert project.manage("makemigrations", "--check")
    assert project.manage("shell", "-v0", "-c", SHOW).strip() == "1"
    project.manage("migrate", "depot", "zero", "&&", "migrate", "&&", "shell", "-c", ROWS)
    assert project.manage("shell", "-v0", "-c", SHOW).strip() == "0"


def test_a_move_in_the_transaction_that_a_squashed_migration_has(project):
    path = next(project.migrations.glob("0002_*.py"))
    path.write_text(path.read_text().replace("atomic = False", "atomic = True"))
    project.manage("migrate")
    assert project.manage("shell", "-v0", "-c", SHOW).strip() == "1"
    project.manage("migrate", "depot", "0001")
