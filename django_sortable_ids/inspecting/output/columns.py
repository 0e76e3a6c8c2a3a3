"""How wide a text is where each character has one or two columns: Chinese characters have two."""

import unicodedata


def columns(text: str) -> int:
    return sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """The text with blanks up to that many columns."""
    return text + " " * (width - columns(text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
