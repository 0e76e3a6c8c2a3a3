from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from django_sortable_ids.admin import SortableIDAdmin

from .support import logged_in


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars are counted exactly, however busy the machine is."""
    monkeypatch.setattr(SortableIDAdmin, "created_at_hierarchy_seconds", 60)


@pytest.fixture
def noon() -> Iterator[None]:
    """No day ends between two looks at the clock."""
    with time_machine.travel("2026-07-06T16:00Z", tick=False):
        yield


@pytest.fixture
def superuser(db: None) -> User:
    return User.objects.create(username="root", is_staff=True, is_superuser=True)


@pytest.fixture
def browser(superuser: User) -> Client:
    """A client that is logged in as a superuser."""
    return logged_in(superuser)


@pytest.fixture
def at_time(
    settings: Any, monkeypatch: pytest.MonkeyPatch, superuser: User
) -> Callable[..., datetime]:
    """Sets the time zone and, in its local time, the clock that the admin looks at."""

    def set_clock(zone: str, local: str, *, use_tz: bool = True) -> datetime:
        settings.TIME_ZONE = zone
        settings.USE_TZ = use_tz
        now = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone))
        monkeypatch.setattr(timezone, "now", lambda: now if use_tz else now.replace(tzinfo=None))
        return now

    return set_clock


@pytest.fixture
def admin_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Changes attributes of the admin of a model, for one test."""

    def change(model: type[Model], **attributes: Any) -> None:
        model_admin = admin.site.get_model_admin(model)
        for name, value in attributes.items():
            monkeypatch.setattr(model_admin, name, value)

    return change
