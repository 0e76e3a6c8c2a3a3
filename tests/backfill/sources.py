"""The sources that a backfill may have its times from, with rows of each and their right order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.apps import apps
from django.conf import settings
from django.db import models

from django_sortable_ids.backfill import plan
from django_sortable_ids.backfill.sources.find import find
from django_sortable_ids.schemes import get
from tests.testapp.models import Order

from .shop.models import Bill, BillLine, Document, Invoice, Old, PairKey
from .support import START, insert

DAY = timedelta(days=1)


def place(key: int) -> int:
    """Three rows share each, and no order is that of the keys."""
    return key * 37 % 101 // 3


def moment(key: int) -> datetime:
    return START + 2 * place(key) * DAY


def day(key: int) -> date:
    return date(2024, 2, 20) + place(key) * DAY


def orders(keys: Sequence[int], at: Callable[[int], datetime | None] = moment) -> None:
    insert(Order, [{"id": key, "name": "", "created_at": at(key)} for key in keys])


def invoices(keys: Sequence[int]) -> None:
    insert(Document, [{"id": key, "created_at": moment(key)} for key in keys])
    insert(Invoice, [{"document_ptr": key} for key in keys])


def pairs(keys: Sequence[int]) -> None:
    rows = [{"shop": key % 5, "number": key, "created_at": moment(key)} for key in keys]
    insert(PairKey, rows)


def lines(keys: Sequence[int]) -> None:
    """Of bills, one for each place, and of days."""
    bills = {place(key): key for key in keys}
    there = set(Bill.objects.values_list("pk", flat=True))
    Bill.objects.bulk_create(
        Bill(id=number + 1, issued_at=moment(key), day=day(key))
        for number, key in bills.items()
        if number + 1 not in there
    )
    rows = [{"id": key, "bill": place(key) + 1, "day": day(key), "amount": 0} for key in keys]
    insert(BillLine, rows)


OLD_SCHEMES = {
    "plain": get("uuid1"),
    "old_ulid": get("ulid"),
    "old_ksuid": get("ksuid"),
    "old_snowflake": get("snowflake"),
    "old_cuid": get("cuid"),
    "old_uuid7": get("uuid7"),
    "old_reversed": get("kuuid", reverse=True),
}


def old_ids(source: str) -> Callable[[Sequence[int]], None]:
    """Rows with ids in another column, several of a tick."""
    scheme = OLD_SCHEMES[source]

    def make(keys: Sequence[int]) -> None:
        insert(
            Old,
            [
                {"id": key, source: scheme.generate(moment(key)), "name": "", "text": ""}
                for key in keys
            ],
        )

    return make


@dataclass(frozen=True)
class Case:
    label: str
    insert: Callable[[Sequence[int]], None]
    order: tuple[str, ...] = ("created_at", "pk")
    given: dict[str, str] = field(default_factory=lambda: {"created_from": "created_at"})
    policies: dict[str, Any] = field(default_factory=dict)
    apart: int = 1
    """How far the keys of rows that come later are from those that are there."""

    @property
    def options(self) -> list[str]:
        """Of the command."""
        named = {**self.given, **self.policies}
        return [f"--{name.replace('_', '-')}={value}" for name, value in named.items()]

    def plan(self, size: int) -> plan.Plan:
        target = find(self.label, self.given, "default")
        return plan.build(replace(target, **self.policies), size)

    @property
    def model(self) -> Any:
        return apps.get_model(*self.label.split(".")[:2])

    @property
    def name(self) -> str:
        return self.label.rpartition(".")[2]

    def rows(self) -> models.QuerySet[Any]:
        return models.QuerySet(self.model)

    def in_order(self) -> list[Any]:
        """The keys of the rows, in the order that their ids must have."""
        old = self.given.get("convert_from")
        if old is None:
            return list(self.rows().order_by(*self.order).values_list("pk", flat=True))
        parts = OLD_SCHEMES[old].parts
        found = self.rows().values_list("pk", old)
        return [pk for pk, value in sorted(found, key=lambda row: (parts(row[1]), row[0]))]

    def ids(self) -> dict[Any, Any]:
        return dict(self.rows().values_list("pk", self.name))

    def rank(self, value: Any) -> int:
        scheme = self.model._meta.get_field(self.name).scheme
        return (-1 if getattr(scheme, "descending", False) else 1) * int(scheme.to_int(value))

    def is_right(self, place: Any, value: Any) -> bool:
        """Whether an id is of the time of its row, or its old id bit for bit if it can be."""
        scheme: Any = self.model._meta.get_field(self.name).scheme
        old = OLD_SCHEMES.get(self.given.get("convert_from", ""))
        if old is not None:
            bits, place = old.convert(place, to=scheme), old.created_at(place)
            if bits.lossless and bits.value != value:
                return False
        elif not isinstance(place, datetime):
            place = datetime.combine(place, time(), ZoneInfo(settings.TIME_ZONE))
        return bool(scheme.parts(value)[0] == scheme.tick(place))

    def wrong(self) -> list[Any]:
        """The keys of rows whose ids are not of their times, where these are in columns."""
        if self.policies or self.order[:1] == ("pk",):
            return []
        place = self.given.get("convert_from") or self.order[0]
        found = self.rows().values_list("pk", place, self.name)
        return [key for key, place, value in found if not self.is_right(place, value)]

    def given_keys(self) -> list[Any]:
        """The keys of the rows with an id, in the order of the ids."""
        ids = {key: value for key, value in self.ids().items() if value is not None}
        return sorted(ids, key=lambda key: self.rank(ids[key]))


LINE = "shop.BillLine.public_id"


def orders_without_times(keys: Sequence[int]) -> None:
    orders(keys, lambda _: None)


def of_now(name: str) -> Case:
    policies = {"on_null": "now"}
    return Case(
        f"testapp.Order.{name}", orders_without_times, ("pk",), policies=policies, apart=1000
    )


def of_line(source: str, **given: str) -> Case:
    return Case(LINE, lines, (source, "pk"), given or {"created_from": source})


def converted(name: str, source: str) -> Case:
    return Case(f"shop.Old.{name}", old_ids(source), (), {"convert_from": source})


CASES = {
    "a column": Case("testapp.Order.uuid7", orders),
    "a column, 64 bits": Case("testapp.Order.snowflake", orders),
    "a column, newest first": Case("testapp.Order.reversed_kuuid", orders),
    "a column of the parent": Case("shop.Invoice.number", invoices),
    "a key of two columns": Case("shop.PairKey.public_id", pairs),
    "a related row": of_line("bill__issued_at"),
    "a day": of_line("day"),
    "a day of a related row": of_line("bill__day"),
    "a period": of_line("pk", created_from="pk", start="2015-01-01", end="2024-06-30"),
    "the time of the run": of_line("pk", created_at="now"),
    "no time, of now": of_now("uuid7"),
    "no time, counted": of_now("number"),
    "old ids, bit for bit": converted("uuid6", "plain"),
    "old ids, bit for bit, in order": converted("ulid", "old_uuid7"),
    "old ids of the same time": converted("snowflake", "old_ulid"),
    "old ids of 64 bits": converted("uuid7", "old_snowflake"),
    "old ids of seconds": converted("ulid", "old_ksuid"),
    "old ids as text": converted("uuid7", "old_cuid"),
    "old ids, newest first": converted("ulid", "old_reversed"),
}
