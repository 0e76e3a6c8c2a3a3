"""The digits of an id as a picture: a grid of cells, a colour and a number for each part."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import pgettext

from .parts import Anatomy, Kind, Place

_PER_ROW = 16
_CELL, _GAP, _MARGIN = 20, 6, 2
_GROUP = 8
_LABEL, _BOX, _SPACE, _BASELINE = 13, 22, 5, 16
_NARROW = 5.6
"""Estimated width of a column of a label."""


@dataclass(frozen=True)
class Label:
    """A digit; or, above the first digit of a part in a row, its number and, if there is room, its
    name.
    """

    x: float
    y: int
    text: str


@dataclass(frozen=True)
class Box:
    """The digits of a part in a row."""

    x: int
    y: int
    width: int
    kind: Kind
    height: int = _BOX


@dataclass(frozen=True)
class Picture:
    """What the template draws, in units of the picture's own."""

    width: int
    height: int
    boxes: list[Box]
    digits: list[Label]
    labels: list[Label]
    description: str
    """The same for those who don't see it."""


def picture(anatomy: Anatomy) -> Picture:
    """The picture of an id: 16 digits in each row, from left to right in every language."""
    numbers = {part: number for number, part in enumerate(anatomy.parts, 1)}
    boxes, labels = [], []
    for place, part in anatomy.in_order:
        for row in _rows_of(place):
            x, y = _corner(row.first)
            end, _y = _corner(row.last)
            width = end + _CELL - x
            boxes.append(Box(x, y, width, part.kind))
            text = f"{numbers[part]} {part.name}"
            fits = columns(text) * _NARROW <= width
            labels.append(Label(x, y - 3, text if fits else str(numbers[part])))
    digits = []
    for position, digit in enumerate(anatomy.text):
        x, y = _corner(position)
        digits.append(Label(x + _CELL / 2, y + _BASELINE, digit))
    width = max((box.x + box.width for box in boxes), default=0) + _MARGIN
    height = max((box.y + box.height for box in boxes), default=0) + _MARGIN
    return Picture(width, height, boxes, digits, labels, _in_words(anatomy))


def _in_words(anatomy: Anatomy) -> str:
    parts = ", ".join(f"{part.name} {part.width}" for part in anatomy.parts)
    words = (
        pgettext("sortable ids", "%(count)d bits: %(parts)s")
        if anatomy.is_binary
        else pgettext("sortable ids", "%(count)d digits: %(parts)s")
    )
    return words % {"count": len(anatomy.text), "parts": parts}


def columns(text: str) -> int:
    """How wide a text is where Chinese characters have two columns, and others one."""
    spacing = (each for each in text if not unicodedata.combining(each))
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in spacing)


def _rows_of(place: Place) -> Iterator[Place]:
    """The place in each of the rows that it spans."""
    first = place.first
    while first <= place.last:
        stop = min(place.last + 1, (first // _PER_ROW + 1) * _PER_ROW)
        yield Place(first, stop - first)
        first = stop


def _corner(position: int) -> tuple[int, int]:
    """The upper left corner of a digit."""
    row, column = divmod(position, _PER_ROW)
    x = _MARGIN + column * _CELL + column // _GROUP * _GAP
    return x, _LABEL + _MARGIN + row * (_LABEL + _BOX + _SPACE)
