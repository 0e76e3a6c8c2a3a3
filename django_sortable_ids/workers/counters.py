"""The counters of sequences: one row each, advanced by an atomic UPDATE.

A field may reserve a block of ids at once and assign them from memory, an idea of SnowMaker's. No
id is assigned before its block is committed. Ids that are unused when the process ends leave a gap.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import connections, models, transaction
from django.db.models import F
from django.db.models.functions import Length

from ..db import tables
from ..db.transactions import apart, in_transaction
from ..schemes import LexicalSequence

BEFORE_PERIOD = " "
_AT_A_TIME = 500


def key_of(column: models.Field[Any, Any], period: str = "") -> str:
    """The key of a column's counter: ``table.column``, and the period, if it counts in periods."""
    key = f"{column.model._meta.db_table}.{column.column}"
    return f"{key}{BEFORE_PERIOD}{period}" if period else key


def periods_of(column: models.Field[Any, Any], using: str) -> list[str]:
    """The periods for which a column may have a counter in the database ``using``."""
    from ..models import SequenceCounter

    before = f"{key_of(column)}{BEFORE_PERIOD}"
    counters = SequenceCounter.objects.using(using).filter(key__startswith=before)
    return ["", *(key.removeprefix(before) for key in counters.values_list("key", flat=True))]


def take(
    column: models.Field[Any, Any],
    scheme: LexicalSequence,
    count: int,
    using: str,
    at_least: int | None = None,
    *,
    looks_up: bool = False,
) -> list[str]:
    """The next ``count`` ids of a column's sequence, in the current transaction of ``using``.

    They are of the period of ``scheme``, which has a counter of its own.

    The UPDATE locks the counter's row until the transaction ends. So no other transaction gets the
    same numbers, and a rollback reverts both the numbers and the rows that used them. If the width
    has fewer ids left, ``at_least`` that many suffice; else raises ``SequenceExhausted``.

    With ``looks_up``, in the column's unique index, the counter continues after the last number of
    the table if rows have some of the ids already, imported or typed. Otherwise the INSERT would
    fail, its rollback would revert the counter, and each later one would get the same number.
    """
    from ..models import SequenceCounter

    key = key_of(column, scheme.template.period_name(scheme.period))
    counters = SequenceCounter.objects.using(using)
    needed = tables.needing(SequenceCounter, using, ImproperlyConfigured)
    with needed, transaction.atomic(using=using):
        if not counters.filter(key=key).update(taken=F("taken") + count):
            first = _following(scheme, _highest(column, scheme, using))
            # An upsert, because another process may create the row concurrently. On MariaDB and
            # MySQL, a failed INSERT leaves a shared lock, and two processes that then update the
            # row deadlock.
            takes_target = connections[using].features.supports_update_conflicts_with_target
            counters.bulk_create(
                [SequenceCounter(key=key, first=first, step=scheme.step, taken=0)],
                update_conflicts=True,
                update_fields=["key"],
                unique_fields=["key"] if takes_target else None,
            )
            counters.filter(key=key).update(taken=F("taken") + count)
        counter = counters.get(key=key)
        if counter.step != scheme.step:
            raise ImproperlyConfigured(
                f"the sequence {key} has steps of {counter.step}, but the field has "
                f"step={scheme.step}: restore the field's step, or change the SequenceCounter row"
            )
        current = replace(scheme, start=counter.first)
        start, stop = counter.taken - count, counter.taken
        if at_least is not None and stop > current.count:
            stop = max(current.count, start + at_least)
            counters.filter(key=key).update(taken=stop)
        ids = [current.nth(n) for n in range(start, stop)]
        rows: models.QuerySet[Any] = models.QuerySet(column.model, using=using)
        pages = (ids[n : n + _AT_A_TIME] for n in range(0, count, _AT_A_TIME))
        if looks_up and any(rows.filter(**{f"{column.name}__in": page}).exists() for page in pages):
            # An UPDATE, which keeps the lock of the row.
            first = _following(scheme, _highest(column, scheme, using))
            counters.filter(key=key).update(first=first, taken=0)
            return take(column, scheme, count, using, at_least)
        return ids


def catch_up(column: models.Field[Any, Any], scheme: LexicalSequence, using: str) -> None:
    """Have an existing counter continue after the last number of the table, if an imported or typed
    one is beyond the counter. Reads the whole column, unless an index has it.

    Raises ``SequenceExhausted`` if the width has no number after that one.
    """
    from ..models import SequenceCounter

    counters, number_of = SequenceCounter.objects.using(using), scheme.numeration.number
    with transaction.atomic(using=using):
        counter = counters.select_for_update().filter(key=key_of(column)).first()
        highest = counter and _highest(column, scheme, using)
        if (
            counter
            and highest
            and number_of(highest) >= (number_of(counter.first) + counter.taken * counter.step)
        ):
            first = _following(scheme, highest)
            counters.filter(pk=counter.pk).update(first=first, taken=0)


def _following(scheme: LexicalSequence, highest: str | None) -> str:
    """The number after the last one of the table; ``start`` if it has none of the period."""
    if highest is None:
        return scheme.start
    return scheme.number_of(replace(scheme, start=highest).nth(1)) or scheme.start


def _highest(column: models.Field[Any, Any], scheme: LexicalSequence, using: str) -> str | None:
    """The last number of the period in a table that already has ids: adopted, renamed with its
    model, or imported."""
    rows: models.QuerySet[Any] = models.QuerySet(column.model, using=using)
    values = rows.filter(**{f"{column.name}__isnull": False}).values_list(column.name, flat=True)
    digits = scheme.numeration.digits("upper")
    if list(digits) == sorted(digits) and not scheme.numeration.ignore_case:
        if scheme.has_template:
            values = values.filter(**{f"{column.name}__range": scheme.limits})
        last = values.order_by(Length(column.name).desc(), F(column.name).desc()).first()
        number = None if last is None else scheme.number_of(last)
        if last is None or number is not None:
            return number
    numbers = (scheme.number_of(value) for value in values.iterator())
    return max(filter(None, numbers), key=scheme.numeration.number, default=None)


# Blocks.


@dataclass(eq=False)
class _Stock:
    """Ids of one sequence that this process has reserved but not assigned yet."""

    ids: deque[str] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)


_stocks: dict[tuple[str, str, LexicalSequence], _Stock] = {}


def take_from_block(
    column: models.Field[Any, Any],
    scheme: LexicalSequence,
    count: int,
    using: str,
    block: int,
    looks_up: bool,
) -> list[str]:
    """The next ``count`` ids of a column's sequence for this process, ``block`` reserved at a time.

    They stay taken if the caller's transaction rolls back, and no other process waits for its end.
    Raises ``SequenceExhausted`` if the width allows no more.
    """
    if in_transaction(using) and connections[using].vendor == "sqlite":
        # SQLite has one writer at a time: a second connection would wait for this one forever.
        # Memory must not keep numbers that this transaction may still roll back.
        return take(column, scheme, count, using, looks_up=looks_up)
    stock = _stocks.setdefault((using, key_of(column), scheme), _Stock())
    with stock.lock:
        missing = count - len(stock.ids)
        if missing > 0:
            size = max(missing, block)
            reserved = apart(
                lambda: take(column, scheme, size, using, missing, looks_up=looks_up), using
            )
            stock.ids.extend(reserved)
        return [stock.ids.popleft() for _ in range(count)]


def drop_blocks() -> None:
    """Discard the ids reserved in memory: they become a gap."""
    _stocks.clear()


# Without this, a forked child would assign its parent's numbers.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=drop_blocks)
