"""What of a pasted text may be an id: the text itself, or parts of a URL or of a sentence."""

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from django.utils.text import Truncator
from django.utils.translation import gettext as _

MOST_CHARACTERS = 4_000
"""What comes after them is not read."""

_MOST_WORDS = 60
_LONGEST_WORD = 320
"""A text form has at most 255 characters, a prefix and its separator 64."""

_NOT_OF_IDS = "[^A-Za-z0-9._~:%-]+"
"""All ids are of characters that need no escaping in a URL; a prefix may end with a colon."""

_BETWEEN_WORDS = re.compile(_NOT_OF_IDS)
_AROUND = re.compile(rf"^{_NOT_OF_IDS}|{_NOT_OF_IDS}$")
_PUNCTUATION = ".:%"
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


def whole(text: str) -> Iterator[str]:
    """Spellings of the whole text, if it is one word: as it is, without quotes around it, decoded.

    They may be the same.
    """
    if len(text) <= _LONGEST_WORD:
        yield text
        bare = _bare(text)
        yield bare
        yield from _decoded(bare)


def words(text: str) -> Iterator[tuple[str, ...]]:
    """The words of a text, each in the spellings in which it may be an id. At most 60 words."""
    path = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*", "", text)
    decoded = unquote(path, errors="replace")
    pieces = (piece for piece in _BETWEEN_WORDS.split(decoded) if piece)
    for piece in islice(pieces, _MOST_WORDS):
        if len(piece) <= _LONGEST_WORD:
            bare = _bare(piece)
            spellings = [piece, bare, *_decoded(bare), bare.rpartition(".")[0]]
            yield tuple(dict.fromkeys(filter(None, spellings)))


def has_several_words(text: str) -> bool:
    """Whether it is more than one word, such as a URL."""
    return len(text) > _LONGEST_WORD or _BETWEEN_WORDS.search(_bare(text)) is not None


def _bare(text: str) -> str:
    """The text without quotes and punctuation around it."""
    return _AROUND.sub("", text).strip(_PUNCTUATION)


def _decoded(word: str) -> Iterator[str]:
    """A word of a URL without percent signs, and without the quoting of Django's admin."""
    plain = unquote(word, errors="replace")
    yield plain
    yield _OF_THE_ADMIN.sub(lambda found: chr(int(found[1], 16)), plain)


def cut_off(text: str) -> str | None:
    """What is said of a text that is too long; None if all of it is read."""
    if len(text) <= MOST_CHARACTERS:
        return None
    return _("Only the first %(most)d of %(all)d characters are read.") % {
        "most": MOST_CHARACTERS,
        "all": len(text),
    }
