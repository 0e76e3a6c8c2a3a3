"""What a backfill is going to do: checked, counted, and printable before anything is written."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import NotSupportedError
from django.db.models import Count, Min, Q

from ..models import BackfillRun
from ..schemes import TimeScheme
from . import old_ids, preflight
from .conversion import Conversion, Lossless
from .converter import writer_of
from .errors import BackfillError
from .estimate import Estimate, estimate
from .minting import ascending, mint
from .pages import Judge
from .target import Target
from .times import as_stored, aware
from .writer import Writer

SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole of a backfill: ``lines`` prints it, ``run.execute`` runs it."""

    target: Target
    writer: Writer
    """What writes its batches."""
    batch_size: int
    missing: int
    given_from: datetime | None
    """From which creation time on the application gives ids, too, where it was looked for."""
    resumed: BackfillRun | None
    """A run that stopped before its end and that this one goes on with."""
    estimate: Estimate
    samples: tuple[str, ...]
    """First rows, with ids of the right time; the ids to come have other random parts."""
    warnings: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The plan, for people."""
        target = self.target
        yield f"{target.label}: {target.field.scheme.title} of {_source(target)}"
        if self.resumed:
            yield f"  goes on behind the {self.resumed.rows_filled:,} rows that were filled before"
        yield f"  {self.missing:,} rows without an id, up to {self.batch_size:,} in a transaction"
        order = f"in the order of ({', '.join(target.order)}), "
        for when, statement in self.writer.statements:
            yield f"  {order}{when}:"
            yield f"    {statement}"
            order = ""
        if self.missing:
            yield from (f"  takes {line}" for line in self.estimate.lines())
        yield from (f"  such as {sample}" for sample in self.samples)
        yield from (f"  warning: {warning}" for warning in self.warnings)


def build(target: Target, batch_size: int) -> Plan:
    """Look at everything that could stop the backfill, and write nothing.

    Raises ``BackfillError`` with the row for a time that is NULL or that the scheme can't hold,
    and where a run that stopped before had other options.
    """
    run = BackfillRun.objects.using(target.using).filter(target=target.label).first()
    resumed = _resumable(target, run)
    missing, given_from = _counted(target, run)
    preflight.check_rows(target, missing)
    return Plan(
        target=target,
        writer=writer_of(target) if isinstance(target, Conversion) else Writer(target),
        batch_size=batch_size,
        missing=missing,
        given_from=given_from,
        resumed=resumed,
        estimate=estimate(target, missing, resumed),
        samples=tuple(_samples(target)),
        warnings=tuple(preflight.warnings(target)),
    )


def _counted(target: Target, run: BackfillRun | None) -> tuple[int, datetime | None]:
    """How many rows have no id, and the creation time of the first one that has an id of its time:
    in one look at the table, which is what takes the time. A run before this one has told it, or
    has given these ids; where none is left, the application gives them from now on.
    """
    now = as_stored(datetime.now(UTC))
    if isinstance(target, Conversion):
        return target.missing.count(), None
    if run is not None and run.options == options(target):
        return target.missing.count(), now
    try:
        rows, has_own = Judge(target).with_marks(target.rows), Q(verify_of_time=1)
    except NotSupportedError:
        rows, has_own = target.rows, Q(**{f"{target.field.name}__isnull": False})
    found = rows.aggregate(
        missing=Count(target.key_fields[0].attname, filter=target.is_missing),
        given=Min(target.source.name, filter=has_own),
    )
    return found["missing"], min(found["given"] or now, now)


def _source(target: Target) -> str:
    name = target.source.name
    if not isinstance(target, Conversion):
        return name
    kept = "bit for bit" if isinstance(target, Lossless) else "of the same time, in the same order"
    return f"the {target.old.title} in {name}, {kept}"


def options(target: Target) -> dict[str, Any]:
    """What must stay the same between the start of a run and its resumption."""
    _, _, _, arguments = target.field.deconstruct()
    return {
        "created_from": target.created_from,
        **old_ids.options(target),
        "scheme": target.field.scheme_name,
        "time_zone": None if settings.USE_TZ else settings.TIME_ZONE,
        **{
            key: repr(value)
            for key, value in arguments.items()
            if key in target.field.scheme_options
        },
    }


def _resumable(target: Target, run: BackfillRun | None) -> BackfillRun | None:
    if run is None or run.finished_at is not None:
        return None
    now = options(target)
    for key in sorted(run.options.keys() | now.keys()):
        was, wanted = run.options.get(key), now.get(key)
        if was != wanted:
            raise BackfillError(
                f"a run on {target.label} stopped after {run.rows_filled:,} rows with {key} = "
                f"{was!r}, and now it is {wanted!r}: the rows would not sort together. Go on as "
                f"before, or set the column to NULL and delete the BackfillRun to begin anew"
            )
    return run


def _samples(target: Target) -> Iterator[str]:
    if isinstance(target, Conversion):
        yield from _converted_samples(target)
        return
    scheme = target.field.scheme
    rows = target.read(target.missing_in_order[:SAMPLES])
    if not rows or not isinstance(scheme, TimeScheme):
        return
    ticks = ascending((scheme.tick(aware(created)) for created, _ in rows), None)
    numbers, _ = mint(scheme, ticks, None, 0)
    for (created, pk), value in zip(rows, scheme.all_from_trusted(numbers), strict=True):
        yield f"{pk}, {created.isoformat()}: {target.field.public_text.format(value)}"


def _converted_samples(target: Conversion) -> Iterator[str]:
    rows = target.read(target.missing_in_order[:SAMPLES])
    if rows:
        ids, _ = writer_of(target).convert(rows, None, SAMPLES + 1)
        for (place, pk), value in zip(rows, ids, strict=True):
            yield f"{pk}, {target.value(place)}: {target.field.public_text.format(value)}"
