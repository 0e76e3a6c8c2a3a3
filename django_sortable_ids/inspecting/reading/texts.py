"""What of a pasted text may be an id: the text itself, or a part of a URL."""

import re
from urllib.parse import unquote

from django.utils.text import Truncator
from django.utils.translation import gettext as _

MOST_CHARACTERS = 4_000
"""What comes after them is not read."""

_MOST_PARTS = 60
_LONGEST_PART = 320
"""A text form has at most 255 characters, a prefix and its separator 64."""

_BETWEEN_PARTS = re.compile(r"[/?#&=\s]+")
_AROUND = "\"'`“”<>,.;"
_OF_THE_ADMIN = re.compile("_([0-9A-F]{2})")
"""A character as Django's admin quotes it in a URL."""


def cleaned(text: str) -> str:
    """The text without characters that nobody sees, and without blanks around it."""
    return "".join(filter(_is_seen, text[:MOST_CHARACTERS])).strip()


def _is_seen(character: str) -> bool:
    return character.isprintable() or character.isspace()


def shown(text: str, most: int = 80) -> str:
    """The text for people, in one line: what is not printable is escaped, and the end cut off."""
    printable = "".join(
        character if character.isprintable() else repr(character)[1:-1]
        for character in text[: most + 1]
    )
    return Truncator(printable).chars(most)


def spellings(text: str) -> list[str]:
    """What of an id or a URL may be the id: the text, then the parts of its path and its query.

    Each is without quotes around it, decoded, and without the quoting of Django's admin.
    """
    path = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*", "", text)
    parts = [text, *_BETWEEN_PARTS.split(unquote(path, errors="replace"))[:_MOST_PARTS]]
    found = []
    for part in filter(None, parts):
        if len(part) <= _LONGEST_PART:
            bare = unquote(part.strip(_AROUND), errors="replace")
            plain = _OF_THE_ADMIN.sub(lambda found: chr(int(found[1], 16)), bare)
            found += [part, bare, plain, bare.rpartition(".")[0]]
    return list(dict.fromkeys(filter(None, found)))


def cut_off(text: str) -> str | None:
    """What is said of a text that is too long; None if all of it is read."""
    if len(text) <= MOST_CHARACTERS:
        return None
    return _("Only the first %(most)d of %(all)d characters are read.") % {
        "most": MOST_CHARACTERS,
        "all": len(text),
    }
