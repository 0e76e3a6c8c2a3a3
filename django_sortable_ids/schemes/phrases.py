"""Texts for people that can be said in other languages, without anything of Django's."""

from typing import Any


class Phrase(str):
    """An English text that knows its ``template`` and the ``values`` in it, which may be phrases.

    ``str()`` of it, and of an exception with it, is still a phrase.
    """

    __slots__ = ("template", "values")

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> "Phrase":
        self = super().__new__(cls, template % values if values else template)
        self.template = template
        self.values = values
        return self

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> Any:
        return str, ("".join(self),)


def characters_of(count: int, characters: str) -> Phrase:
    """A text of ``count`` of these characters."""
    return Phrase("%(count)d characters of %(characters)s", count=count, characters=characters)


def in_any_case(expected: str, ignores_case: bool) -> str:
    """What is expected, with a word about case where that doesn't matter."""
    return Phrase("%(expected)s, in any case", expected=expected) if ignores_case else expected


def prefixed(prefix: str, expected: str) -> Phrase:
    """What is expected, after a prefix."""
    return Phrase("“%(prefix)s” and %(expected)s", prefix=prefix, expected=expected)


def with_example(expected: str, example: str) -> Phrase:
    """What is expected, and an example of it."""
    return Phrase("%(expected)s, such as %(example)s", expected=expected, example=example)
