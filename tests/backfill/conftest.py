"""Databases: committed for real, a second one, and the command in a process of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.own_tables import second_database
from tests.testapp.models import Order

from .command import Command
from .shop import models as shop
from .support import own_models


@pytest.fixture
def command(transactional_db: None) -> Iterator[Callable[..., Command]]:
    """Starts ``backfill_ids`` in a process of its own, on the database of the test."""
    started = []

    def start(*arguments: str, **options: Any) -> Command:
        started.append(Command(*arguments, **options))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def own_aliases(transactional_db: None, django_db_blocker: Any) -> Iterator[None]:
    """The test may use databases that it registers itself: Django allows those from before it."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def zoned(own_aliases: None) -> Iterator[Callable[[str], str]]:
    """Gives the alias of the same database whose session has a time zone of its own."""

    def alias(zone: str) -> str:
        settings = connections["default"].settings_dict
        default = connections.databases["default"]
        connections.databases["zoned"] = {**default, "NAME": settings["NAME"], "TIME_ZONE": zone}
        return "zoned"

    yield alias
    connections["zoned"].close()
    del connections["zoned"], connections.databases["zoned"]


@pytest.fixture
def other(tmp_path: Path, django_db_setup: Any, django_db_blocker: Any) -> Iterator[str]:
    """The alias of a second database."""
    with django_db_blocker.unblock(), second_database(tmp_path) as alias:
        create_tables(alias, Order, shop.Plain)
        yield alias


def create_tables(using: str, *models: Any) -> None:
    """And those of the app."""
    with connections[using].schema_editor() as editor:
        for model in (*models, *own_models()):
            editor.create_model(model)
