"""Gives rows that came after a move a key of the old type, before the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from django.db import connections, transaction
from django.db.models import IntegerField, QuerySet

from ...backfill.engines import engine_of
from ...backfill.target import Target
from ...db import tables
from ...errors import BackfillError
from ...fields import SortableIDField
from ..changes import Key, Values
from .new_keys import BATCH


def fill(key: Key, using: str, last_number: Callable[[Key], int]) -> None:
    """Give rows without an old key the next one, in the order of their ids: the next number after
    ``last_number``, or the default of the old key. Those that were deleted again get theirs after
    them.

    Raises ``BackfillError`` if the old key has neither.
    """
    following: Iterator[Any] | None = None
    for values in key.values:
        write = None
        rows: QuerySet[Any] = QuerySet(values.model, using=using)
        missing = rows.filter(**{f"{values.next_field.name}__isnull": True})
        missing = missing.order_by(values.key_field.name)
        while found := list(missing.values_list("pk", flat=True)[:BATCH]):
            following = following or _next_keys(key, last_number)
            write = write or _Writer(values, using)
            write(found, list(islice(following, len(found))))


def give_back(values: Values, known: Iterable[tuple[Any, Any]], using: str) -> None:
    """Give rows without an old key a known one: pairs of the primary key and the old key."""
    write = None
    pairs = iter(known)
    while page := list(islice(pairs, BATCH)):
        pks, old = zip(*page, strict=True)
        write = write or _Writer(values, using)
        write(pks, old)


class _Writer:
    """Writes old keys into a table, whose statistics are collected at first."""

    def __init__(self, values: Values, using: str) -> None:
        self._using = using
        self._connection = connections[using]
        self._field, self._pk = values.next_field, values.model._meta.pk
        tables.analyze(self._connection, values.table)
        # The source of times is not used.
        target = Target(values.model, self._field, self._pk, using)
        self._statements = engine_of(using).statements(target, with_times=False)

    def __call__(self, pks: Sequence[Any], old: Sequence[Any]) -> None:
        connection = self._connection
        keys = [[self._pk.get_db_prep_save(each, connection)] for each in pks]
        stored = [self._field.get_db_prep_save(each, connection) for each in old]
        with transaction.atomic(self._using):
            self._statements.send(keys, stored, [])


def _next_keys(key: Key, last_number: Callable[[Key], int]) -> Iterator[Any]:
    old = key.after
    if isinstance(old, IntegerField) and not isinstance(old, SortableIDField):
        return count(last_number(key) + 1)
    if not old.has_default():
        raise BackfillError(
            f"{key.label}: rows that were inserted since the key was moved have no "
            f"{key.live.next_field.name}, and a {type(old).__name__} has no next value: fill it, "
            f"and migrate again"
        )
    return iter(old.get_default, None)
