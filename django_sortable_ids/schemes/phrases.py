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
