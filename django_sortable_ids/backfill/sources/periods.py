"""Rows without recorded creation times: spread over a period, all of one time, or of none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Max, Min, Q, Value

from ...errors import BackfillError, WrongArguments
from ...fields import LexicalSequenceField, SortableIDField
from ...fields.of_model import referenced_column
from ...fields.times import in_utc
from ...schemes import ID, LeaseLost, LeaseUnavailable, TimeScheme
from ...schemes.clock_and_randomness import MICROSECOND
from .base import CREATED_FROM, Expectation, Given, InOrderOfKeys, Row, Source, Wanted
from .target import Target

if TYPE_CHECKING:
    from ..verification import Page, StoredID
    from ..verify import Checker


class Derived(InOrderOfKeys):
    """Times that Python derives from the key of a row, which is its place."""

    is_by_time = True

    def compare(
        self, checker: Checker, page: Page, ids: Sequence[StoredID | None], *, is_of_run: bool
    ) -> None:
        if is_of_run:
            checker.compare_times(page, ids, is_of_run=True)
        else:
            # Only the application can have generated these.
            checker.result.not_of_run += len(ids) - ids.count(None)


@dataclass(frozen=True)
class Spread(Derived):
    """Times over a period, both ends included, linear in the key, an integer."""

    _: KW_ONLY
    start: datetime
    end: datetime
    first: int
    """The key of the first instant; rows before it have the same time."""
    last: int

    arguments = {
        "created_from": CREATED_FROM,
        "start": {"metavar": "TIME", "help": "with --created-from pk: the time of the first row"},
        "end": {
            "metavar": "TIME",
            "help": "with --created-from pk: the time of the last row; linear in the key",
        },
    }

    @classmethod
    def check(cls, given: Given) -> None:
        start, end = map(given.get, ("start", "end"))
        if not bool(start) == bool(end) == (given.get("created_from") == "pk"):
            raise WrongArguments(
                "--created-from pk spreads the rows over a period, --start 2015-01-01 --end "
                "2024-06-30: give all three, or none of them"
            )
        if start and end:
            first, last, now = _parsed("--start", start), _parsed("--end", end), datetime.now(UTC)
            if not first <= last <= now:
                raise BackfillError(
                    f"--start {start} --end {end}: expected a start before the end, and an end "
                    f"before now, {now.isoformat()}, when the last of the rows existed"
                )

    @classmethod
    def named_by(cls, wanted: Wanted) -> Spread | None:
        """``--created-from pk``; the keys that the last run of the period began with."""
        given, last = wanted.given, wanted.last
        if given.get("created_from") != "pk":
            return None
        model, using, scheme = wanted.model, wanted.using, wanted.field.scheme
        key: models.Field[Any, Any] = model._meta.pk
        column = referenced_column(key)
        if isinstance(column, SortableIDField) or not isinstance(column, models.IntegerField):
            raise BackfillError(
                f"--created-from pk derives times from integers that count up, and the key of "
                f"{model._meta.label} is of type {type(column).__name__}: use --created-at now, or "
                f"--convert-from for a key that carries times"
            )
        start, end = _parsed("--start", given["start"]), _parsed("--end", given["end"])
        if isinstance(scheme, TimeScheme) and not all(map(scheme.can_hold, (start, end))):
            raise BackfillError(
                f"--start {given['start']} --end {given['end']}: {scheme.title} has times from "
                f"{scheme.earliest} to {scheme.latest}"
            )
        before = last.options if last and last.options.get("created_from") == "pk" else {}
        known = [datetime.fromisoformat(before[name]) for name in ("start", "end") if before]
        if last and last.cursor and known == [start, end]:
            first, last_key = before["first_key"], before["last_key"]
        else:
            ends = wanted.missing.aggregate(first=Min("pk"), last=Max("pk"))
            first, last_key = ends["first"] or 0, ends["last"] or 0
        return cls(model, key, using, start=start, end=end, first=first, last=last_key)

    @property
    def described(self) -> str:
        return (
            f"times from {self.start.isoformat()} to {self.end.isoformat()}, linear in the keys "
            f"from {self.first} to {self.last}"
        )

    @property
    def options(self) -> dict[str, Any]:
        return {
            "created_from": "pk",
            "start": self.start.astimezone(UTC).isoformat(),
            "end": self.end.astimezone(UTC).isoformat(),
            "first_key": self.first,
            "last_key": self.last,
        }

    def at(self, place: int) -> datetime:
        if place <= self.first:
            return self.start
        if place >= self.last:
            return self.end
        length = (self.end - self.start) // MICROSECOND
        return self.start + (place - self.first) * length // (self.last - self.first) * MICROSECOND

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        condition = Q()
        if start is not None and start > self.start:
            condition &= Q(pk__gte=self._key_from(start)) if start <= self.end else Q(pk__in=[])
        if end is not None and end <= self.end:
            condition &= Q(pk__lt=self._key_from(end)) if end > self.start else Q(pk__in=[])
        return condition

    def _key_from(self, at: datetime) -> int:
        """The least key from ``first`` on of the time ``at`` or later, or that after ``last``."""
        low, high = self.first, self.last + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle) >= at else (middle + 1, high)
        return low


@dataclass(frozen=True)
class Fixed(Derived):
    """The time at which the first run started, for every row."""

    _: KW_ONLY
    moment: datetime

    arguments = {
        "created_at": {
            "choices": ["now"],
            "help": "use the start of the first run as the time of every row; ids follow the order "
            "of the key",
        }
    }
    notes = ("this is the start of the first run; later runs and --verify use the same time",)

    @classmethod
    def check(cls, given: Given) -> None:
        if "created_at" in given and len(given) > 1:
            raise WrongArguments("--created-at sets the time of every row: give no other source")

    @classmethod
    def given_by(cls, options: Mapping[str, Any]) -> Given:
        """Runs store the time itself."""
        return {"created_at": "now"} if "created_at" in options else {}

    @classmethod
    def named_by(cls, wanted: Wanted) -> Fixed | None:
        """``--created-at now``: the start of the last run, unless it has no ids."""
        last = wanted.last
        if "created_at" not in wanted.given:
            return None
        moment = datetime.now(UTC)
        before = last.options.get("created_at") if last else None
        has_id = Q(**{f"{wanted.field.name}__isnull": False})
        rows: models.QuerySet[Any] = models.QuerySet(wanted.model, using=wanted.using)
        if last and before and last.cursor and rows.filter(has_id).exists():
            moment = datetime.fromisoformat(before)
        return cls(wanted.model, wanted.model._meta.pk_fields[0], wanted.using, moment=moment)

    @property
    def described(self) -> str:
        return f"{self.moment.isoformat()} for every row, in the order of the key"

    @property
    def options(self) -> dict[str, Any]:
        return {"created_at": self.moment.astimezone(UTC).isoformat()}

    def at(self, place: Any) -> datetime:
        return self.moment

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        is_from_start = start is None or start <= self.moment
        is_before_end = end is None or self.moment < end
        return Q() if is_from_start and is_before_end else Q(pk__in=[])


class Unsourced(InOrderOfKeys):
    """No known times: the ids of rows that only the application has written."""

    described = "no known times"
    expected = Expectation(about_times="")

    @classmethod
    def of(cls, model: type[models.Model], using: str) -> Unsourced:
        return cls(model, model._meta.pk_fields[0], using)

    def compare(
        self, checker: Checker, page: Page, ids: Sequence[StoredID | None], *, is_of_run: bool
    ) -> None:
        is_number = isinstance(self.field, models.IntegerField)
        if is_number and not isinstance(self.field, SortableIDField):
            checker.check_numbered(page, ids)


@dataclass(frozen=True)
class WithoutTime(Unsourced):
    """The rows of another source that have no time, for ``--on-null=now``. The application's
    generator gives them ids, in the order of the key."""

    _: KW_ONLY
    timed: Source

    comes_last = True

    @classmethod
    def in_target(cls, target: Target) -> Target:
        """The target with these rows only."""
        key = target.model._meta.pk_fields[0]
        source = cls(target.model, key, target.using, timed=target.source)
        return replace(target, source=source, on_null="error", on_out_of_range="error")

    @property
    def rows(self) -> models.QuerySet[Any]:
        return self.timed.outer_rows.filter(**{f"{self.timed.field.name}__isnull": True})

    @property
    def selected_place(self) -> Any:
        return Value(None, output_field=models.TextField())

    def known_ids(self, target: Target, rows: Sequence[Row]) -> Sequence[ID] | None:
        """None for a sequence, which has a counter."""
        if isinstance(target.field, LexicalSequenceField):
            return None
        try:
            return target.field.generate_many_for([target.model()] * len(rows), target.using)
        except (LeaseLost, LeaseUnavailable) as error:
            raise BackfillError(f"{target.label}: no ids of now: {error}") from error


def _parsed(option: str, text: str) -> datetime:
    """The aware time of ``--start`` or ``--end``. A date means the start, or the last microsecond,
    of that day in ``TIME_ZONE``. Raises ``BackfillError`` for other texts."""
    with suppress(ValueError):
        day = date.fromisoformat(text)
        return in_utc(datetime.combine(day, time.max) if option == "--end" else day)
    try:
        return in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise BackfillError(
            f"{option} {text!r}: expected a day or a time, such as 2015-01-31 or 2015-01-31T08:30"
        ) from None
