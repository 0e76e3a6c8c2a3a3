"""Rows whose id can't have their own time: it is NULL, or out of the scheme's range.

``--on-null=now`` and ``--on-out-of-range=clamp`` give them ids anyway, at the end of a run.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import connections
from django.db.models import DateField, Q, QuerySet, Subquery

from ...db import chunks
from ...errors import BackfillError
from ...fields import LexicalSequenceField
from ...schemes import ID, LeaseLost, LeaseUnavailable, TimeScheme
from ...sequences import counters
from ...times.bounds import last_tick
from ..engines.base import Engine
from ..target import Row, Target
from .batch import NOTHING, Batch, Written
from .minting import mint_between
from .writer import KeyedWriter


class PolicyRows(ABC):
    """The rows without an id that get ids from one policy.

    Their times are compared in the database only, since Python can't represent all of them.
    """

    which: str
    """Which rows, and which ids they get, as text for the plan."""

    def __init__(self, target: Target, engine: Engine) -> None:
        self.target = target
        self._writer = _PolicyWriter(target, engine)

    @property
    def statement(self) -> str:
        """The statement that writes a batch of them."""
        return self._writer.statement

    @property
    @abstractmethod
    def rows(self) -> QuerySet[Any]:
        """The rows, in order."""

    def count(self) -> int:
        return chunks.count(self.rows)

    def check(self, count: int) -> None:
        """Raise ``BackfillError`` if so many rows can't get ids."""
        return

    def prepare(self, count: int) -> None:
        """Prepare the next batch, of up to ``count`` rows, outside of its transaction."""
        return

    def batch(self, size: int, last: Any, left: int) -> Batch:
        """The next rows after the one with the key ``last`` (None: the first ones), of ``left``."""
        rows = self.rows if last is None else self.rows.filter(self._after(last))
        # Locked, so that no other transaction gives them a time before the batch is committed.
        if self.target.own_time:
            keys = _keys(self.target, rows.select_for_update()[:size])
        else:
            keys = _locked_keys(self.target, rows, size)
        if not keys:
            return NOTHING
        places: list[Row] = [(None, key) for key in keys]
        with self._writer.naming(places[0]):
            ids = self._ids(keys, max(left, len(keys)))
        return Batch(places, len(keys), lambda: Written(self._writer.send(places, ids), None))

    @abstractmethod
    def _after(self, key: Any) -> Q:
        """The rows after the one with that key."""

    @abstractmethod
    def _ids(self, keys: Sequence[Any], left: int) -> Sequence[ID]:
        """Ids for the rows of these keys, which are the first of ``left`` rows."""


def policy_rows(target: Target, engine: Engine) -> Iterator[PolicyRows]:
    """The rows that get ids from the policies of the target, one entry for each policy."""
    if target.on_null == "now":
        yield _WithoutTime(target, engine)
    scheme = target.field.scheme
    if target.on_out_of_range == "clamp" and isinstance(scheme, TimeScheme) and target.time_range:
        start, end = target.time_range
        first, last = scheme.earliest, last_tick(scheme)
        yield _OutOfRange(target, engine, f"too old for {scheme.title}", first, (None, start))
        yield _OutOfRange(target, engine, f"too new for {scheme.title}", last, (end, None))


class _WithoutTime(PolicyRows):
    """Rows without a time get ids of now, in the order of the key."""

    def __init__(self, target: Target, engine: Engine) -> None:
        super().__init__(target, engine)
        self.which = f"without {target.source.name} get ids of now"
        self._generated: Sequence[ID] = ()

    @property
    def rows(self) -> QuerySet[Any]:
        timeless = Q(**{f"{self.target.source.name}__isnull": True})
        return self.target.without_id.filter(timeless).order_by("pk")

    def prepare(self, count: int) -> None:
        """Generate the ids. This may write the lease of a worker number on a second connection,
        which on SQLite would wait for the transaction.
        """
        target = self.target
        if isinstance(target.field, LexicalSequenceField):
            return
        try:
            self._generated = target.field.generate_many_for([target.model()] * count, target.using)
        except (LeaseLost, LeaseUnavailable) as error:
            raise BackfillError(f"{target.label}: no ids of now: {error}") from error

    def _after(self, key: Any) -> Q:
        return Q(pk__gt=key)

    def _ids(self, keys: Sequence[Any], left: int) -> Sequence[ID]:
        field, count = self.target.field, len(keys)
        if isinstance(field, LexicalSequenceField):
            return counters.take(field, field.scheme, count, self.target.using)
        return self._generated[:count]


class _OutOfRange(PolicyRows):
    """Rows out of range get ids of the scheme's first or last tick, in the order of the run."""

    def __init__(
        self,
        target: Target,
        engine: Engine,
        what: str,
        at: datetime,
        bounds: tuple[datetime | None, datetime | None],
    ) -> None:
        super().__init__(target, engine)
        self.which = f"{what} get ids of {at:%Y-%m-%d %H:%M:%S} UTC"
        self._at = at
        self._bounds = bounds

    @property
    def rows(self) -> QuerySet[Any]:
        target = self.target
        return target.without_id.filter(target.between(*self._bounds)).order_by(*target.order)

    def check(self, count: int) -> None:
        scheme = self.target.scheme
        capacity = scheme.layout.capacity(scheme.tick(self._at))
        if count > capacity:
            raise BackfillError(
                f"{self.target.label}: {count:,} rows {self.which}, and a {scheme.title} has "
                f"{capacity:,} ids of that time. Correct their times, or choose "
                f"--on-out-of-range=skip; nothing was written."
            )

    def _after(self, key: Any) -> Q:
        return self.target.after(self._place(key), key)

    def _ids(self, keys: Sequence[Any], left: int) -> Sequence[ID]:
        """Ids between the existing ones of the tick."""
        target, scheme, name = self.target, self.target.scheme, self.target.field.name
        of_tick = (
            {f"{name}__created_at__lt": scheme.tick_span(self._at)[1]}
            if self._at == scheme.earliest
            else {f"{name}__created_at__gte": self._at}
        )
        given = target.rows.filter(**of_tick).order_by(*target.order)
        first, last = keys[0], keys[-1]
        before = given.filter(target.before(self._place(first), first)).reverse()
        after = given.filter(target.after(self._place(last), last))
        lower, upper = (list(rows.values_list(name, flat=True)[:1]) for rows in (before, after))
        return mint_between(scheme, self._at, lower, upper, None, len(keys), left)

    def _place(self, key: Any) -> Any:
        """The place of a row in the order of the run, as the database has it."""
        target = self.target
        rows = target.rows.filter(pk=key)
        if isinstance(target.source, DateField):
            return Subquery(rows.values(target.place_name)[:1])
        return target.first(rows)[0]


class _PolicyWriter(KeyedWriter):
    """Writes ids by key, whatever the time of the row."""

    with_times = False

    @property
    def statement(self) -> str:
        return self._statements.sent

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        return BackfillError(f"stopped at {self.target.model._meta.label} {row[1]}: {error}")


def _keys(target: Target, rows: QuerySet[Any]) -> list[Any]:
    names = [field.attname for field in target.key_fields]
    if target.model._meta.is_composite_pk:
        return [tuple(key) for key in rows.values_list(*names)]
    return list(rows.values_list("pk", flat=True))


def _locked_keys(target: Target, rows: QuerySet[Any], size: int) -> list[Any]:
    """As ``_keys``, for queries with joins: PostgreSQL can't lock the nullable side of an outer
    join."""
    while keys := _keys(target, rows[:size]):
        if not connections[target.using].features.has_select_for_update:
            break
        list(target.rows.filter(pk__in=keys).select_for_update().values_list("pk"))
        if still := _keys(target, rows.filter(pk__in=keys)):
            return still
    return keys
