"""The parts of an id, where they are in it, and their picture, derived from its scheme's layout."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import pgettext, pgettext_lazy

from ..functions import bits
from ..schemes import ID, Digits, Scheme, TimeScheme
from ..schemes.support import exponent

BINARY = "01"
_VERSION, _VARIANT = range(76, 80), range(62, 64)
"""The bits of a UUID that have these names, counted from the least significant one."""
_LONG = 1 << 40


class Kind(StrEnum):
    """The purpose of a part. Pictures have a colour for each."""

    TIME = "time"
    WORKER = "worker"
    SEQUENCE = "sequence"
    RANDOM = "random"
    VERSION = "version"
    VARIANT = "variant"
    FIXED = "fixed"


_NAMES: Mapping[str, Promise] = {
    "clock sequence": pgettext_lazy("sortable ids", "clock sequence"),
    "counter": pgettext_lazy("sortable ids", "counter"),
    "entropy": pgettext_lazy("sortable ids", "entropy"),
    "fingerprint": pgettext_lazy("sortable ids", "fingerprint"),
    "fixed": pgettext_lazy("sortable ids", "fixed"),
    "high counter": pgettext_lazy("sortable ids", "high counter"),
    "low counter": pgettext_lazy("sortable ids", "low counter"),
    "machine": pgettext_lazy("sortable ids", "machine"),
    "node": pgettext_lazy("sortable ids", "node"),
    "process": pgettext_lazy("sortable ids", "process"),
    "random": pgettext_lazy("sortable ids", "random"),
    "sequence": pgettext_lazy("sortable ids", "sequence"),
    "time": pgettext_lazy("sortable ids", "time"),
    "variant": pgettext_lazy("sortable ids", "variant"),
    "version": pgettext_lazy("sortable ids", "version"),
    "worker": pgettext_lazy("sortable ids", "worker"),
}
"""The names of each ``Kind`` and of each ``SuffixPart`` of the catalogue."""


class Place(NamedTuple):
    """Digits next to each other: the first, counted from 0 at the left, and how many."""

    first: int
    width: int

    @property
    def last(self) -> int:
        return self.first + self.width - 1

    def __str__(self) -> str:
        return str(self.first) if self.width == 1 else f"{self.first}-{self.last}"


@dataclass(frozen=True)
class Part:
    kind: Kind
    name: str | Promise
    value: int
    """For the time, the ticks since the epoch of the scheme; else the number in these digits."""
    places: tuple[Place, ...]
    """From left to right; none if the part shares digits with another one."""

    @property
    def width(self) -> int:
        """How many digits it has; 0 if it shares digits with another part."""
        return sum(place.width for place in self.places)


@dataclass(frozen=True)
class Anatomy:
    alphabet: str
    """The digits in order: two for bits."""
    text: str
    """All digits of the id; empty if its parts share digits."""
    parts: tuple[Part, ...]

    @property
    def table(self) -> list[tuple[int, Part, str, str]]:
        """Each part with its number, its places as text (``0-47, 52-63``), and its value as people
        read it: in decimal, long ones in hexadecimal, fixed bits as they are."""
        rows = []
        for number, part in enumerate(self.parts, 1):
            value = str(part.value)
            if part.kind in (Kind.VARIANT, Kind.FIXED):
                value = "".join(self.text[place.first : place.last + 1] for place in part.places)
            elif part.kind is not Kind.TIME and part.value >= _LONG:
                value = f"0x{part.value:x}"
            rows.append((number, part, ", ".join(map(str, part.places)), value))
        return rows


def anatomy(scheme: Scheme, value: ID) -> Anatomy | None:
    """The parts of an id; None for an id without a time, such as one of a sequence."""
    if not isinstance(scheme, TimeScheme) or not scheme.carries_time(value):
        return None
    tick, suffix = scheme.parts(value)
    parts = [Part(Kind.TIME, _NAMES[Kind.TIME], tick, ())]
    rest, suffix_parts = scheme.layout.suffixes, _suffix_parts(scheme)
    for kind, name, size in suffix_parts:
        rest //= size
        parts.append(Part(kind, name, suffix // rest % size, ()))
    alphabet, width = _digits_of_suffix(scheme)
    widths = [exponent(len(alphabet), size) for _, _, size in suffix_parts] if width else []
    if not widths or 0 in widths:
        return Anatomy(BINARY, "", tuple(parts))
    number = scheme.to_int(value)
    owners = [part_number for part_number, count in enumerate(widths, 1) for _ in range(count)]
    if alphabet == BINARY:
        text = f"{number:0{scheme.bits}b}"
        return Anatomy(BINARY, text, _placed(text, parts, _owners_of_bits(scheme, owners)))
    text = scheme.canonical.format(number)
    return Anatomy(alphabet, text, _placed(text, parts, [0] * (len(text) - width) + owners))


def _owners_of_bits(scheme: TimeScheme, of_suffix: Sequence[int]) -> list[int | Kind]:
    """The number of the part of each bit, from left to right, or the kind of a fixed bit."""
    is_uuid = scheme.layout.template.version is not None
    owners: list[int | Kind] = []
    for place, (part, low) in enumerate(bits.bits_of(scheme.layout, scheme.bits)):
        if part is bits.Part.TICK:
            owners.append(0)
        elif part is bits.Part.SUFFIX:
            owners.append(of_suffix[-1 - low])
        elif is_uuid and place in _VERSION:
            owners.append(Kind.VERSION)
        else:
            is_variant = is_uuid and place in _VARIANT
            owners.append(Kind.VARIANT if is_variant else Kind.FIXED)
    return owners[::-1]


def _placed(text: str, parts: Sequence[Part], owners: Sequence[int | Kind]) -> tuple[Part, ...]:
    """The parts with their places, and the parts of fixed bits, from left to right."""
    places: list[tuple[Place, ...]] = [() for _ in parts]
    placed, first = [], 0
    for owner, digits in groupby(owners):
        place = Place(first, len(list(digits)))
        first = place.last + 1
        if isinstance(owner, Kind):
            value = int(text[place.first : first], 2)
            placed.append(Part(owner, _NAMES[owner], value, (place,)))
        else:
            places[owner] += (place,)
    placed += [replace(part, places=where) for part, where in zip(parts, places, strict=True)]
    return tuple(sorted(placed, key=lambda part: part.places))


def _digits_of_suffix(scheme: TimeScheme) -> tuple[str, int]:
    """The digits that the suffix has for itself: their alphabet, and how many they are; none if it
    shares a digit with the time."""
    suffixes, form = scheme.layout.suffixes, scheme.canonical
    if width := exponent(2, suffixes):
        return BINARY, width
    if isinstance(form, Digits):
        width = form.count_of_last(suffixes)
        return (form.alphabet, width) if width else ("", 0)
    width = exponent(10, suffixes)
    return ("0123456789", width) if scheme.value_type is int and width else ("", 0)


def _suffix_parts(scheme: TimeScheme) -> Sequence[tuple[Kind, str | Promise, int]]:
    """The parts of the suffix with their sizes, the most significant first."""
    layout = scheme.layout
    if layout.workers is not None:
        worker = (Kind.WORKER, _NAMES[Kind.WORKER], layout.workers)
        sequence = (Kind.SEQUENCE, _NAMES[Kind.SEQUENCE], layout.suffixes // layout.workers)
        parts = [sequence, worker] if layout.worker_last else [worker, sequence]
        return [part for part in parts if part[2] > 1]
    if scheme.suffix_parts:
        return [
            (Kind(part.role), _NAMES.get(part.name, part.name), part.size)
            for part in scheme.suffix_parts
        ]
    return [(Kind.RANDOM, _NAMES[Kind.RANDOM], layout.suffixes)]


_PER_ROW = 16
_CELL, _GAP, _MARGIN = 20, 6, 2
_GROUP = 8
_LABEL, _BOX, _SPACE, _BASELINE = 13, 22, 5, 16
_NARROW = 5.6
"""Estimated width of a column of a label."""


@dataclass(frozen=True)
class Box:
    """The digits of a part in a row, below its number, and its name if that fits."""

    x: int
    y: int
    width: int
    kind: Kind
    label: str
    height: int = _BOX


@dataclass(frozen=True)
class Picture:
    """The boxes and digits that the template draws, in units of the picture's own."""

    width: int
    height: int
    boxes: list[Box]
    digits: list[tuple[int, int, str]]
    """Each with the middle of its baseline."""
    description: str
    """The picture in words, for those who don't see it."""


def picture(anatomy: Anatomy) -> Picture:
    """The picture of an id: 16 digits in each row, from left to right in every language."""
    boxes = []
    for number, part in enumerate(anatomy.parts, 1):
        for row in (row for place in part.places for row in _rows_of(place)):
            x, y = _corner(row.first)
            width = _corner(row.last)[0] + _CELL - x
            label = f"{number} {part.name}"
            fits = display_width(label) * _NARROW <= width
            boxes.append(Box(x, y, width, part.kind, label if fits else str(number)))
    corners = map(_corner, range(len(anatomy.text)))
    digits = [
        (x + _CELL // 2, y + _BASELINE, digit)
        for (x, y), digit in zip(corners, anatomy.text, strict=True)
    ]
    width = max(box.x + box.width for box in boxes) + _MARGIN
    height = max(box.y + box.height for box in boxes) + _MARGIN
    parts = ", ".join(f"{part.name} {part.width}" for part in anatomy.parts)
    words = pgettext("sortable ids", "%(count)d digits: %(parts)s")
    if anatomy.alphabet == BINARY:
        words = pgettext("sortable ids", "%(count)d bits: %(parts)s")
    description = words % {"count": len(anatomy.text), "parts": parts}
    return Picture(width, height, boxes, digits, description)


def display_width(text: str) -> int:
    """How wide a text is where Chinese characters have two columns, and others one."""
    spacing = (char for char in text if not unicodedata.combining(char))
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in spacing)


def _rows_of(place: Place) -> Iterator[Place]:
    first = place.first
    while first <= place.last:
        stop = min(place.last + 1, (first // _PER_ROW + 1) * _PER_ROW)
        yield Place(first, stop - first)
        first = stop


def _corner(position: int) -> tuple[int, int]:
    row, column = divmod(position, _PER_ROW)
    x = _MARGIN + column * _CELL + column // _GROUP * _GAP
    return x, _LABEL + _MARGIN + row * (_LABEL + _BOX + _SPACE)
