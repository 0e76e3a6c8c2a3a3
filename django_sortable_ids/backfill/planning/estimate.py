"""How long a backfill may take, and how much disk space it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from ...fields import LexicalSequenceField
from ...models import BackfillRun
from ...schemes import TimeScheme
from ..engines import engine_of
from ..progress import minutes
from ..target import Target

_INTEGER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Estimate:
    rows: int
    rates: tuple[float, float]
    """Rows per second, lower and upper bound; equal where the run has measured its own rate."""
    id_bytes: int
    """Of all ids, without an index."""
    version_bytes: int
    """Upper bound for the new row versions until a VACUUM; 0 where rows are written in place."""

    def lines(self) -> Iterator[str]:
        """The estimate as text."""
        slow, fast = (minutes(self.rows / rate) for rate in self.rates)
        yield f"about {slow}" if slow == fast else f"between {fast} and {slow}"
        yield f"{size(self.id_bytes)} of ids, before there is an index on them"
        if self.version_bytes:
            yield f"up to {size(self.version_bytes)} of new row versions, until a VACUUM"


def estimate(target: Target, missing: int, resumed: BackfillRun | None) -> Estimate:
    """The estimate for ``missing`` rows; a resumed run is expected to keep its rate."""
    engine = engine_of(target.using)
    rates = engine.rows_per_second
    if resumed is not None and resumed.rate:
        rates = (resumed.rate, resumed.rate)
    versions = engine.version_bytes(target, missing) if missing else 0
    return Estimate(missing, rates, missing * _stored_bytes(target), versions)


def _stored_bytes(target: Target) -> int:
    """The size of one id in the database."""
    field, scheme = target.field, target.field.scheme
    connection = connections[target.using]
    stored: Any
    if isinstance(scheme, TimeScheme):
        stored = field.stored(connection).to_db(scheme.to_int(scheme.example), connection)
    else:
        assert isinstance(field, LexicalSequenceField), "every other scheme has a time"
        stored = field.get_db_prep_save(field.scheme.nth(0), connection)
    match stored:
        case int():
            return _INTEGER_BYTES
        case UUID():
            return len(stored.bytes)
    return len(getattr(stored, "adapted", stored))


def size(count: float) -> str:
    """A number of bytes as text."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"
