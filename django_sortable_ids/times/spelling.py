"""How times are spelled in SQLite, which compares them as text.

Django writes ``2024-05-01 23:00:00`` or ``2024-05-01 23:00:00.123456``, and reads more forms.
Texts of one spelling sort by time; texts of different spellings don't.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_PATTERN = re.compile(
    r"\d{4}-\d\d-\d\d(?P<separator>[ T])\d\d:\d\d:\d\d(?:\.(?P<fraction>\d{1,6}))?"
    r"(?P<zone>|Z|[+-]\d\d:\d\d)",
    re.ASCII,
)
_BY_DJANGO = (0, 6)
"""Fractional digits of a second that Django writes: none if all are zero."""
WHOLE = ".000000"
"""The fraction of a whole second, if it is written."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A form of texts that differ only in their digits, and sort by time.

    ``fraction`` is the number of fractional digits of the second. None stands for 0 or 6, as
    written by Django and ``datetime.isoformat``, or always 6. With the zone "Z" it is never None,
    because "Z" sorts after the point.
    """

    separator: str
    fraction: int | None
    zone: str

    def bound(self, at: datetime, naive: tzinfo) -> str:
        """A text that sorts after all times before ``at`` (aware), and not after any other time.

        Texts without a zone are local times of ``naive``. The result has no zone, so it sorts
        before the same text with a zone.
        """
        try:
            local = (at + self._to_next(at)).astimezone(_offset(self.zone) or naive)
        except OverflowError:
            # The time zone shifts the last day out of the calendar.
            local = at
        kind = "seconds" if not self._digits(local) else "microseconds"
        text = local.replace(tzinfo=None).isoformat(self.separator, kind)
        return text[: len("2024-05-01 23:00:00.") + self._digits(local)] if "." in text else text

    def _digits(self, at: datetime) -> int:
        if self.fraction is None:
            return max(_BY_DJANGO) if at.microsecond else 0
        return self.fraction

    def _to_next(self, at: datetime) -> timedelta:
        """How long until the next time that has no more digits."""
        unit = 10 ** (6 - self._digits(at))
        return timedelta(microseconds=-at.microsecond % unit)


DJANGO = Spelling(" ", None, "")


def spelling_of(text: object) -> Spelling | None:
    """The spelling of a time; None if its order is not known."""
    match = _PATTERN.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    zone, digits = match["zone"], len(match["fraction"] or "")
    is_mixed = digits in _BY_DJANGO and zone != "Z"
    return Spelling(match["separator"], None if is_mixed else digits, zone)


def _offset(zone: str) -> tzinfo | None:
    if zone in ("", "Z"):
        return UTC if zone else None
    hours, minutes = zone[1:].split(":")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if zone[0] == "-" else offset)
