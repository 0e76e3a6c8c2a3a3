"""The last months and years that have rows, by look-ups in the index of an id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import MINYEAR, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Exists, QuerySet
from django.utils import formats

from ..fields.of_model import id_at, local_time
from ..schemes import TimeScheme

_MONTHS_LOOKED_AT = 12
_YEARS_LOOKED_AT = 10


class Span(NamedTuple):
    """A month or a year, in local time."""

    title: str
    start: datetime
    end: datetime
    """The start of the next one."""


def past_spans(
    rows: QuerySet[Any], path: str, now: datetime, months: int, years: int
) -> list[Span]:
    """The last months and the last years before those of ``now`` that have rows, newest first.

    ``path`` leads to an id that sorts by time. The months are among the 12 that end with the last
    one, the years among 10. It takes two or three statements, each a few look-ups in the index,
    however large the table is.
    """
    this_month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    last = _last_before(rows, path, this_month)
    if last is None:
        return []
    this_year = this_month.replace(month=1)
    last_of_years = last if last < this_year else _last_before(rows, path, this_year)
    month_spans = list(islice(_months(last), _MONTHS_LOOKED_AT))
    year_spans = list(islice(_years(last_of_years), _YEARS_LOOKED_AT))
    full = _with_rows(rows, path, [*month_spans, *year_spans])
    return [
        *islice((span for span in month_spans if span in full), months),
        *islice((span for span in year_spans if span in full), years),
    ]


def _last_before(rows: QuerySet[Any], path: str, end: datetime) -> datetime | None:
    """The local time of the last id before ``end``."""
    field = id_at(rows.model, path)
    assert field is not None
    assert isinstance(field.scheme, TimeScheme)
    newest_first = path if field.scheme.descending else f"-{path}"
    earlier = rows.filter(**{f"{path}__created_at__lt": end}).order_by(newest_first)
    value = next(iter(earlier.values_list(path, flat=True)[:1]), None)
    return None if value is None else local_time(field, value)


def _with_rows(rows: QuerySet[Any], path: str, spans: Sequence[Span]) -> set[Span]:
    """Those of the spans that have rows."""
    created = f"{path}__created_at"
    exist = {
        f"span_{number}": Exists(
            rows.filter(**{f"{created}__gte": span.start, f"{created}__lt": span.end})
        )
        for number, span in enumerate(spans)
    }
    # A SELECT of Django's reads from a table: this one from any of its rows.
    any_row = rows.model._base_manager.using(rows.db).order_by()
    found = next(iter(any_row.values_list(*exist.values())[:1]), ())
    return {span for span, is_full in zip(spans, found, strict=False) if is_full}


def _months(last: datetime | None) -> Iterator[Span]:
    """The month of ``last`` and those before it."""
    if last is None:
        return
    start = last.replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    while start.year > MINYEAR:
        following = (start.replace(day=28) + timedelta(days=4)).replace(day=1)
        yield Span(formats.date_format(start, "YEAR_MONTH_FORMAT"), start, following)
        start = (start - timedelta(days=1)).replace(day=1)


def _years(last: datetime | None) -> Iterator[Span]:
    """The year of ``last`` and those before it."""
    if last is None:
        return
    start = last.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    while start.year > MINYEAR:
        yield Span(formats.date_format(start, "Y"), start, start.replace(year=start.year + 1))
        start = start.replace(year=start.year - 1)
