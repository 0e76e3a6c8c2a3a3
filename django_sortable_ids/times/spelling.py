"""How times are spelled in SQLite, which compares their texts.

Django writes ``2024-05-01 23:00:00`` or ``2024-05-01 23:00:00.123456``, and reads much more. The
texts of one spelling sort by time; those of several spellings don't.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_PATTERN = re.compile(
    r"\d{4}-\d\d-\d\d(?P<separator>[ T])\d\d:\d\d:\d\d(?:\.(?P<fraction>\d{1,6}))?"
    r"(?P<zone>|Z|[+-]\d\d:\d\d)",
    re.ASCII,
)
_ZONE = re.compile(r"(?<=\d)(Z|[+-]\d\d:\d\d)$", re.ASCII)
_BY_DJANGO = (0, 6)
"""Digits of a second's fraction: Django leaves them out where all are zero."""
WHOLE = ".000000"
"""The fraction of a whole second, where it is written."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Texts that differ in their digits only, and sort by time.

    ``fraction`` is the number of digits after the second, or None for 0 or 6 of them, as Django and
    ``datetime.isoformat`` write, or always 6. With a "Z", which sorts after the point, it is a
    number.
    """

    separator: str
    fraction: int | None
    zone: str

    def bound(self, at: datetime, naive: tzinfo) -> str:
        """A text that sorts after all texts of times before ``at`` (aware), and not after any
        other. Texts without a zone are local times of ``naive``.

        It has no zone: a text sorts before those that begin with it.
        """
        try:
            local = (at + self._to_next(at)).astimezone(_offset(self.zone) or naive)
        except OverflowError:
            # The end of the calendar, shifted out of it.
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
    """The spelling of a time, None for one whose order is not known."""
    found = _PATTERN.fullmatch(text) if isinstance(text, str) else None
    if not found:
        return None
    zone, digits = found["zone"], len(found["fraction"] or "")
    is_mixed = digits in _BY_DJANGO and zone != "Z"
    return Spelling(found["separator"], None if is_mixed else digits, zone)


def shape_of(text: object) -> str:
    """A time with a "0" for each of its digits, but for those of its zone, and a "9" for those of a
    microsecond that isn't zero."""
    if not isinstance(text, str):
        return f"a value of type {type(text).__name__}"
    zone = _ZONE.search(text)
    end = zone.start() if zone else len(text)
    shape = re.sub(r"\d", "0", text[:end], flags=re.ASCII)
    if shape.endswith(WHOLE) and not text[:end].endswith(WHOLE):
        shape = shape.removesuffix(WHOLE) + ".999999"
    return shape + text[end:]


def common_spelling(shapes: Iterable[str]) -> Spelling | None:
    """The spelling of all of them, None where they don't sort by time together: a time that is
    spelled with zeros sorts after the same one without."""
    shapes = set(shapes)
    found = {spelling_of(shape) for shape in shapes} or {DJANGO}
    has_two_texts = any(shape.replace(WHOLE, "") in shapes for shape in shapes if WHOLE in shape)
    return found.pop() if len(found) == 1 and not has_two_texts else None


def _offset(zone: str) -> tzinfo | None:
    if zone in ("", "Z"):
        return UTC if zone else None
    hours, minutes = zone[1:].split(":")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if zone[0] == "-" else offset)
