"""The app ``depot`` with migrations that a test writes, and a project in files."""

from contextlib import ExitStack
from functools import cache

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from tests.backfill.own_project import Project
from tests.backfill.test_outages import limit_of_sessions  # noqa: F401
from tests.migrations.conftest import depot  # noqa: F401
from tests.support import execute

from . import histories, small
from .own_database import settings_of_project


@pytest.fixture
def small_move(depot):  # noqa: F811
    """The smallest graph has rows, and the migration that moves its keys is written."""
    small.create(depot)
    small.write_move(depot)


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A project with these files, and with migrations and rows; the same one for the same files."""

    @cache
    def made(*files):
        project = Project(tmp_path_factory.mktemp("template"))
        project.create(*files)
        return project

    return made


@pytest.fixture
def create(tmp_path, template):
    """Creates a project with these models and apps, in a database of the engine of the tests; on
    SQLite, it is one of the files of a template.
    """
    folder = tmp_path / "project"
    with ExitStack() as databases:

        def create(models, *apps, rows="", more=""):
            settings = databases.enter_context(settings_of_project(*apps)) + more
            if connection.vendor == "sqlite" and not folder.exists():
                return template(models, settings, rows).copy(folder)
            project = Project(folder)
            project.create(models, settings, rows=rows)
            return project

        yield create


@pytest.fixture
def shop(depot):  # noqa: F811
    made = histories.Shop(depot)
    yield made
    kinds = ContentType.objects.filter(pk=made.kind)
    kinds._raw_delete(kinds.db)
    execute(f"DROP TABLE IF EXISTS {histories.DELETED}")


@pytest.fixture
def filled(shop):
    """Customers 1 to 5, of which 2, 4 and 5 are gone; 4 has no history of its own."""
    shop.create()
    for number, name in enumerate("abcde"):
        shop.add(name, 9 - number)
    for name in "bde":
        shop.delete(name, 10)
    shop.objects("HistoricalCustomer").filter(name="d").delete()
    return shop
