"""Places of the drill-down: a year, a month of it, a day of that, and so on to a minute.

In the URL, a place is a text such as ``2013-07-04-13-05``. An hour that is repeated when the clock
is put back is ``01b``, after ``01``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from ..fields.values.times import first_moment
from ..histograms.spans import Span, end_of, local, spans

_PARTS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M"}
UNITS = tuple(_PARTS)
_TEXT = re.compile(r"[0-9]{4}(-[0-9]{2}[b-z]?){0,4}")


class Place(NamedTuple):
    unit: str
    text: str
    span: Span

    @property
    def unit_inside(self) -> str | None:
        """The next shorter unit; None for a minute."""
        following = UNITS[UNITS.index(self.unit) + 1 :]
        return following[0] if following else None

    def inside(self) -> list[Place]:
        """The places of the next shorter unit, in the order of time; none for a minute."""
        unit = self.unit_inside
        return [] if unit is None else list(_places(unit, self.span, f"{self.text}-"))


def years(within: Span) -> list[Place]:
    """The years of a span that begins and ends with a year."""
    return list(_places("year", within, ""))


def path_to(text: str) -> list[Place]:
    """The place with that text, after the places that contain it, from the year on.

    Raises ``ValueError`` if there is no such place.
    """
    if not _TEXT.fullmatch(text):
        raise ValueError(f"no time {text!r}")
    year, *parts = text.split("-")
    start = first_moment(date(int(year), 1, 1))
    path = years(Span(start, end_of("year", start)))
    for part in parts:
        wanted = f"{path[-1].text}-{part}"
        found = [place for place in path[-1].inside() if place.text == wanted]
        if not found:
            raise ValueError(f"no time {text!r}")
        path += found
    return path


def _places(unit: str, within: Span, prefix: str) -> Iterator[Place]:
    seen: Counter[str] = Counter()
    for span in spans(unit, *within):
        start = local(span.start)
        # Not all platforms fill %Y up to four digits.
        part = f"{start.year:04}" if unit == "year" else start.strftime(_PARTS[unit])
        repeated = chr(ord("a") + seen[part]) if seen[part] else ""
        seen[part] += 1
        yield Place(unit, f"{prefix}{part}{repeated}", span)
