"""What the tests of the admin share."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse

from django_sortable_ids.schemes import ID
from tests.combinations import in_one_case
from tests.store.admin import TIMED
from tests.store.models import Order, id_column

from .page import Page

KINDS = ["uuid7", "ulid", "kuuid", "snowflake", "sequence"]
"""The scheme of a key of each kind: a page depends on no more."""
each_kind = in_one_case("scheme", KINDS)
each_timed_kind = in_one_case("scheme", KINDS[:-1])


def made_at(model: type[Model], at: datetime, column: str = "id") -> ID:
    """An id for the column, made at that time."""
    return id_column(model, column).scheme.generate(at.astimezone(UTC))


def order_at(at: datetime | None, name: str = "") -> Order:
    """An order all of whose ids were made at that time, or none at all."""
    order = Order.objects.create(name=name or (at.isoformat() if at else "none"))
    ids = {scheme: made_at(Order, at, scheme) if at else None for scheme in TIMED}
    Order.objects.filter(pk=order.pk).update(**ids)
    order.refresh_from_db()
    return order


def midnight(day: date, zone: str) -> datetime:
    """The first moment of a day."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def around(days: Iterable[date], zone: str) -> list[datetime]:
    """The last second before each of the days, and the first of it."""
    starts = {midnight(day, zone) for day in days}
    return sorted({moment for start in starts for moment in (start - timedelta(seconds=1), start)})


def staff(*codenames: str, name: str = "staff") -> User:
    """A user with these permissions; what they see of orders are those of their name."""
    user = User.objects.create(username=name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def changelist(
    model: type[Model],
    query: str = "",
    user: User | None = None,
    site: admin.AdminSite = admin.site,
) -> ChangeList:
    """The changelist for a query string, without its page."""
    request = RequestFactory().get("/" + query)
    request.user = user or User(is_staff=True, is_superuser=True)
    return site.get_model_admin(model).get_changelist_instance(request)


def names(found: ChangeList) -> list[str]:
    """The names of the rows that are listed."""
    return [row.name for row in found.result_list]


def choices(found: ChangeList, title: str) -> dict[str, Any]:
    """The choices of the filter with that title, by what they are called."""
    (spec,) = [spec for spec in found.filter_specs if str(spec.title) == title]
    return {str(choice["display"]): choice for choice in spec.choices(found)}


def title_of(scheme: str) -> str:
    """The title of the filter of an order's id."""
    return "creation time" if scheme == "uuid7" else f"creation time of {scheme.replace('_', ' ')}"


def list_url(model: type[Model], **parameters: str) -> str:
    route = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return f"{route}?{urlencode(parameters)}" if parameters else route


def add_url(model: type[Model], **parameters: str) -> str:
    return reverse(f"admin:store_{model._meta.model_name}_add") + (
        f"?{urlencode(parameters)}" if parameters else ""
    )


def page_url(model: type[Model], key: Any, page: str = "change") -> str:
    return reverse(f"admin:store_{model._meta.model_name}_{page}", args=[key])


def page_of(client: Client, url: str) -> Page:
    answer = client.get(url)
    assert answer.status_code == 200, answer
    return Page(answer.content.decode())
