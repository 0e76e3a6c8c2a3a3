"""``--allow`` takes names of programs that the database has, and refuses others."""

import pytest
from django.db import connection

from tests.marks import own_tables

from .test_used_by_programs import DO

pytestmark = own_tables

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)
"""
BODY = "INSERT INTO depot_log (number) VALUES (NEW.id);"


@pytest.fixture
def project(create):
    made = create(MODELS)
    made.add_keys("Customer")
    return made


def create_trigger(project):
    made = DO[connection.vendor].format(
        name="depot_logged", event="INSERT", table="depot_customer", body=BODY
    )
    project.sql("CREATE TABLE depot_log (number int)", made)


def move(project, *arguments):
    return project.move("--write-migration", *arguments)


@pytest.mark.parametrize("allowed", ["depot_logged", "depot_*"])
def test_a_name_that_the_database_has(project, allowed):
    create_trigger(project)
    assert "write the migration with --allow depot_logged (or" in move(project).stderr
    done = move(project, "--allow", allowed)
    assert done.returncode == 0, done.stderr
    assert f"'{allowed}'" in (project.migrations / f"{project.names[-1]}.py").read_text()


def test_a_name_that_it_lacks(project):
    create_trigger(project)
    done = move(project, "--allow", "depot_logged", "--allow", "depot_loged")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "BackfillError: --allow depot_loged: no trigger, view, routine, event or rule that a move "
        "leaves as it is has that name; the database has trigger depot_logged of depot_customer; "
        "nearest: depot_logged. Correct the name, or omit it"
    )
    assert project.names == ["0001_initial"]


def test_a_name_in_a_database_without_programs(project):
    done = move(project, "--allow", "depot_logged")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "; the database has none. Correct the name, or omit it"
    )
    assert project.names == ["0001_initial"]
