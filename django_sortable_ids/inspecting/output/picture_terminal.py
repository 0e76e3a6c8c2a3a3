"""The digits of an id as lines of text, with a colour for each part if the terminal has colours."""

from collections.abc import Iterator

from django.utils.termcolors import colorize

from ..parts import Anatomy, Kind, Part, Place
from .columns import columns

_PER_LINE = 64
_GROUP = 8
_COLORS = {
    Kind.TIME: "cyan",
    Kind.WORKER: "yellow",
    Kind.SEQUENCE: "green",
    Kind.RANDOM: "magenta",
    Kind.VERSION: "red",
    Kind.VARIANT: "blue",
    Kind.FIXED: "white",
}


def picture(anatomy: Anatomy, *, colored: bool) -> list[str]:
    """Lines of at most 71 columns and, below each, a line with the names of the parts."""
    lines = []
    for start in range(0, len(anatomy.text), _PER_LINE):
        stop = min(start + _PER_LINE, len(anatomy.text))
        pieces = list(_pieces(anatomy, start, stop))
        lines.append("".join(_painted(text, part, colored) for text, part in pieces))
        names = "".join(_fitted(str(part.name), text) for text, part in pieces)
        lines.append(names.rstrip())
    return lines


def _pieces(anatomy: Anatomy, start: int, stop: int) -> Iterator[tuple[str, Part]]:
    """The digits of each part in that line, with the blanks between groups of eight."""
    for place, part in anatomy.in_order:
        inside = _between(place, start, stop)
        if inside.width > 0:
            digits = anatomy.text[inside.first : inside.last + 1]
            text = "".join(
                f" {digit}" if (at - start) % _GROUP == 0 and at > start else digit
                for at, digit in enumerate(digits, inside.first)
            )
            yield text, part


def _between(place: Place, start: int, stop: int) -> Place:
    first = max(place.first, start)
    return Place(first, min(place.last + 1, stop) - first)


def _painted(text: str, part: Part, colored: bool) -> str:
    if not colored:
        return text
    blank = " " if text.startswith(" ") else ""
    return blank + colorize(text[len(blank) :], fg="black", bg=_COLORS[part.kind])


def _fitted(name: str, text: str) -> str:
    """The name in the columns of the text, from its first digit on. The last one is blank."""
    shown, used, width = "", len(text) - len(text.lstrip()), len(text)
    blank = " " * used
    for character in name:
        if used + columns(character) > width - 1:
            break
        shown, used = shown + character, used + columns(character)
    return blank + shown + " " * (width - used)
