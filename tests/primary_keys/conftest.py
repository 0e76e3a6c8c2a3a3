"""The app ``depot`` with migrations that a test writes, and a project in files."""

from contextlib import ExitStack

import pytest
from django.contrib.contenttypes.models import ContentType

from tests.backfill.own_project import Project
from tests.migrations.conftest import depot  # noqa: F401
from tests.support import execute

from . import histories, small
from .own_database import settings_of_project


@pytest.fixture
def small_move(depot):  # noqa: F811
    """The smallest graph has rows, and the migration that moves its keys is written."""
    small.create(depot)
    small.write_move(depot)


@pytest.fixture
def create(tmp_path):
    """Creates a project with these models and apps, in a database of the engine of the tests."""
    with ExitStack() as databases:

        def create(models, *apps, rows="", more=""):
            settings = databases.enter_context(settings_of_project(*apps))
            project = Project(tmp_path / "project")
            project.create(models, settings + more, rows=rows)
            return project

        yield create


@pytest.fixture
def shop(depot):  # noqa: F811
    made = histories.Shop(depot)
    yield made
    ContentType.objects.filter(pk=made.kind).delete()
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
