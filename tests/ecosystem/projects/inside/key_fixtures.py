"""Numbers in the fixtures and tests of a project stand for ids; and what its migrations load."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.management import call_command

from django_sortable_ids.testing import integer_fixtures


@pytest.fixture(scope="session", autouse=True)
def numbers() -> Iterator[None]:
    with integer_fixtures():
        yield


@pytest.fixture(scope="session", autouse=True)
def loaded_by_migrations(numbers: None, django_db_setup: None, django_db_blocker: object) -> None:
    with django_db_blocker.unblock():
        for each in settings.LOADED_BY_MIGRATIONS:
            call_command("loaddata", each, verbosity=0)
