"""The URLs of the project, with the parameters that each passes to its view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver
from django.urls.resolvers import RegexPattern, RoutePattern

Parameters = Mapping[str, str]
"""The regular expression of each parameter, as far as it is known."""

_NAMED = re.compile(r"\(\?P<(\w+)>")


class Route(NamedTuple):
    url: str
    callback: Any
    parameters: Parameters


def routes(
    patterns: Iterable[Any], url: str = "", parameters: Parameters | None = None
) -> Iterator[Route]:
    """Every URL below these patterns."""
    for each in patterns:
        inner = {**(parameters or {}), **_parameters(each.pattern)}
        path = url + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, path, inner)
        elif isinstance(each, URLPattern):
            yield Route(path, each.callback, inner)


def _parameters(pattern: Any) -> Parameters:
    if isinstance(pattern, RoutePattern):
        return {name: converter.regex for name, converter in pattern.converters.items()}
    if isinstance(pattern, RegexPattern):
        text = str(pattern)
        return {found[1]: _group(text, found.end()) for found in _NAMED.finditer(text)}
    return {}


def _group(pattern: str, start: int) -> str:
    """The pattern of the group whose content begins there, up to its closing parenthesis."""
    depth, position, in_set = 1, start, False
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 1
        elif in_set:
            in_set = character != "]"
        elif character == "[":
            in_set = True
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if not depth:
                break
        position += 1
    return pattern[start:position]
