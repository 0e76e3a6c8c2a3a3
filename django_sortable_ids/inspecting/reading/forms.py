"""The characters of text forms, read from their patterns."""

import re
import string
from functools import lru_cache

from ...schemes.encodings.text_forms import TextForm

_CLASS = re.compile(r"\[(?:\\.|[^\]\\])+\]")
_SYNTAX = re.compile(r"\(\?:|[()|*?\\]|\{[0-9,]+\}")


def characters(form: TextForm) -> frozenset[str]:
    """All characters that ids in this form have."""
    return _of_pattern(form.pattern)


@lru_cache(maxsize=512)
def _of_pattern(pattern: str) -> frozenset[str]:
    classes = _CLASS.findall(pattern)
    literal = _SYNTAX.sub("", _CLASS.sub("", pattern))
    ranges = re.compile("|".join(classes) or "(?!)")
    return frozenset(literal) | {each for each in string.printable if ranges.fullmatch(each)}
