"""What a backfill is going to do: checked, counted, and printable before anything is written."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError, NotSupportedError, connections
from django.db.models import Count, Min, Q

from ..models import BackfillRun
from ..schemes import TimeScheme
from ..transactions import is_statement_timeout
from . import chunks, impossible_days, old_ids, preflight, side_effects
from .conversion import Conversion, Lossless
from .converter import writer_of
from .errors import BackfillError
from .estimate import Estimate, estimate
from .minting import ascending, mint
from .pages import Judge
from .policy_rows import PolicyRows, policy_rows
from .sources.copies import Copies, CopyWriter
from .sources.derived import Derived
from .sources.writer import DerivedWriter
from .target import Target
from .times import as_stored
from .writer import Writer

SAMPLES = 3
LONGEST_KEY = 60
"""Characters of a key that are shown."""

_MANY_WARNINGS = 2
"""With more of them, one sample leaves enough room on a terminal."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole of a backfill: ``lines`` prints it, ``run.execute`` runs it."""

    target: Target
    writer: Writer
    """What writes its batches."""
    batch_size: int
    missing: int
    by_policy: tuple[tuple[PolicyRows, int], ...]
    """The rows that --on-null=now and --on-out-of-range=clamp want to have ids, and how many."""
    given_from: datetime | None
    """From which creation time on the application gives ids, too, where it was looked for."""
    resumed: BackfillRun | None
    """A run that stopped before its end and that this one goes on with."""
    estimate: Estimate
    samples: tuple[str, ...]
    """First rows, with ids of the right time; the ids to come have other random parts."""
    warnings: tuple[str, ...]

    @property
    def filled_before(self) -> int:
        """Rows of the same run that an earlier process filled."""
        return self.resumed.rows_filled if self.resumed else 0

    @property
    def rows(self) -> int:
        """How many rows get an id."""
        return self.missing + sum(count for _, count in self.by_policy)

    @property
    def source(self) -> str:
        """What the ids are made from, for people."""
        return _source(self.target)

    def lines(self, with_sql: bool = False) -> Iterator[str]:
        """The plan, for people; without SQL it fits a terminal of 24 lines."""
        target = self.target
        yield f"{target.label}: {target.field.scheme.title} of {self.source}"
        if self.resumed:
            yield f"  continues after the {self.filled_before:,} rows that were filled before"
        if isinstance(target, Derived):
            yield from (f"  {note}" for note in target.notes)
        yield f"  {self.rows:,} rows without an id, up to {self.batch_size:,} in a transaction"
        order = f"in the order of ({', '.join(target.order)})"
        if with_sql:
            for when, statement in self.writer.statements:
                yield f"  {order}{', ' if order else ''}{when}:"
                yield f"    {statement}"
                order = ""
        else:
            yield f"  {order}"
        for rows, count in self.by_policy:
            if count:
                yield f"  at the end, {count:,} rows {rows.which}{':' if with_sql else ''}"
                if with_sql:
                    yield f"    {rows.statement}"
        if kept := self.writer.kept:
            yield f"  keeps {', '.join(kept)}, which an UPDATE would set to its own time"
        if self.rows:
            yield from (f"  takes {line}" for line in self.estimate.lines())
        shown = 1 if len(self.warnings) > _MANY_WARNINGS and not with_sql else SAMPLES
        yield from (f"  such as {sample}" for sample in self.samples[:shown])
        yield from (f"  warning: {warning}" for warning in self.warnings)


def build(target: Target, batch_size: int) -> Plan:
    """Look at everything that could stop the backfill, and write nothing.

    Raises ``BackfillError`` with the row for a time that is NULL or that the scheme can't hold,
    with the triggers that the target doesn't allow, and where a run that stopped before had other
    options.
    """
    effects = side_effects.check(target)
    run = BackfillRun.objects.using(target.using).filter(target=target.label).first()
    resumed = _resumable(target, run)
    counted = _counted(target, run)
    by_policy = tuple((rows, rows.count()) for rows in policy_rows(target))
    all_rows = counted.missing + sum(count for _, count in by_policy)
    preflight.check_rows(
        target, all_rows, may_have_impossible_days=counted.may_have_impossible_days
    )
    for rows, count in by_policy:
        rows.check(count)
    return Plan(
        target=target,
        writer=_writer(target),
        batch_size=batch_size,
        missing=counted.missing,
        by_policy=by_policy,
        given_from=counted.given_from,
        resumed=resumed,
        estimate=estimate(target, all_rows, resumed),
        samples=_sampled(target),
        warnings=(*effects, *preflight.warnings(target)),
    )


class _Counted(NamedTuple):
    missing: int
    """Rows without an id."""
    given_from: datetime | None
    """The creation time of the first row that has an id of its time. A run before this one has told
    it, or has given these ids; where none is left, the application gives them from now on.
    """
    may_have_impossible_days: bool = True
    """Whether they are still to be looked for."""


def _counted(target: Target, run: BackfillRun | None) -> _Counted:
    """In one look at the table, which is what takes the time."""
    now = datetime.now(UTC)
    if isinstance(target, Conversion) or (isinstance(target, Derived) and not target.has_times):
        return _Counted(chunks.count(target.missing), None)
    if run is not None and run.options == options(target):
        return _Counted(chunks.count(target.missing), as_stored(now))
    try:
        rows, has_own = Judge(target).with_marks(target.rows), Q(verify_of_time=1)
    except NotSupportedError:
        has_id = Q(**{f"{target.field.name}__isnull": False})
        rows, has_own = target.rows, has_id & target.has_shown_time
    key = target.key_fields[0].attname
    counts = {
        "missing": Count(key, filter=target.is_missing),
        "given": Min(target.selected_place, filter=has_own),
    }
    if has_days := target.source.model is target.model and impossible_days.are_possible(target):
        counts["impossible"] = Count(key, filter=impossible_days.is_impossible(target))
    found = list(chunks.asked(rows, lambda part: part.aggregate(**counts)))
    given = [target.at(each["given"]) for each in found if each["given"] is not None]
    return _Counted(
        sum(each["missing"] for each in found),
        as_stored(min([*given, now])),
        may_have_impossible_days=not has_days or any(each["impossible"] for each in found),
    )


def _short(pk: Any) -> str:
    text = str(pk)
    return text if len(text) <= LONGEST_KEY else f"{text[: LONGEST_KEY - 3]}..."


def _writer(target: Target) -> Writer:
    if isinstance(target, Copies):
        return CopyWriter(target)
    if isinstance(target, Derived):
        return DerivedWriter(target)
    return writer_of(target) if isinstance(target, Conversion) else Writer(target)


def _source(target: Target) -> str:
    if isinstance(target, Derived):
        return target.described
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
        "time_zone": _time_zone(target),
        **{
            key: repr(value)
            for key, value in arguments.items()
            if key in target.field.scheme_options
        },
        **(target.options if isinstance(target, Derived) else {}),
    }


def _time_zone(target: Target) -> str | None:
    """Whose naive times they are."""
    if not settings.USE_TZ:
        return settings.TIME_ZONE
    session = connections[target.using].timezone_name
    return None if session == "UTC" else session


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


def _sampled(target: Target) -> tuple[str, ...]:
    """None where the session has no time to look for the first rows: no index has them in order."""
    try:
        samples, _ = chunks.in_time(target.using, SAMPLES, lambda _: tuple(_samples(target)))
    except DatabaseError as error:
        if not is_statement_timeout(error):
            raise
        return ()
    return samples


def _samples(target: Target) -> Iterator[str]:
    if isinstance(target, Conversion):
        yield from _converted_samples(target)
        return
    if isinstance(target, Copies):
        return
    scheme = target.field.scheme
    rows = target.read(target.missing_in_order[:SAMPLES])
    if not rows or not isinstance(scheme, TimeScheme):
        return
    ticks = ascending((scheme.tick(target.at(created)) for created, _ in rows), None)
    numbers, _ = mint(scheme, ticks, None, 0)
    for (created, pk), value in zip(rows, scheme.all_from_trusted(numbers), strict=True):
        at = target.at(created).isoformat()
        yield f"{_short(pk)}, {at}: {target.field.public_text.format(value)}"


def _converted_samples(target: Conversion) -> Iterator[str]:
    rows = target.read(target.missing_in_order[:SAMPLES])
    if rows:
        ids, _ = writer_of(target).convert(rows, None, SAMPLES + 1)
        for (place, pk), value in zip(rows, ids, strict=True):
            yield f"{_short(pk)}, {target.value(place)}: {target.field.public_text.format(value)}"
