"""The URLs of the project, and which texts their parameters take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver
from django.utils.regex_helper import normalize


class Route(NamedTuple):
    parts: tuple[Any, ...]
    """Django's patterns, from the root to the view."""
    callback: Any

    @property
    def url(self) -> str:
        return "".join(map(str, self.parts))

    def takes(self, parameter: str, text: str) -> bool | None:
        """Whether a URL may have that text as its parameter; None if it has no such parameter.

        As ``reverse()`` finds out: the text is filled in, and the pattern must match.
        """
        for part in self.parts:
            for url, names in normalize(part.regex.pattern):
                if parameter in names:
                    filled = url % {**dict.fromkeys(names, "1"), parameter: text}
                    return part.match(filled) is not None
        return None


def routes(patterns: Iterable[Any], before: tuple[Any, ...] = ()) -> Iterator[Route]:
    """Every URL below these patterns."""
    for each in patterns:
        parts = (*before, each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, parts)
        elif isinstance(each, URLPattern):
            yield Route(parts, each.callback)
