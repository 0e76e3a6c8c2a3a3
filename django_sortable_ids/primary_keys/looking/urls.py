"""Looks for URLs whose parameter for a key matches digits only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import get_resolver

from ...checks.routes import Route, routes
from ...checks.url_patterns import View, takes_only_numbers
from ...fields import SortableIDField
from ..changes.graph import final_target
from .files import SourceFile
from .finding import Finding
from .names import Names
from .rules.keys import name_of

_CALLS = frozenset({"path", "re_path", "url"})


class _Pattern(NamedTuple):
    """A call that adds a URL."""

    text: str
    views: frozenset[str]
    """The names in its view."""
    file: SourceFile
    line: int


def found(names: Names, files: Iterable[SourceFile]) -> Iterator[Finding]:
    """The findings; URLs of packages are named by what they match. ``names`` are of keys that are
    no numbers."""
    if not names.moved or not getattr(settings, "ROOT_URLCONF", None):
        return
    near = {each.path.as_posix() for each in files if each.is_near}
    patterns = [each for file in files for each in _patterns(file)]
    keys = [final_target(each._meta.pk) for each in names.moved]
    for route in routes(get_resolver().url_patterns):
        for name, regex in route.parameters.items():
            if any(takes_only_numbers(regex, key) for key in keys) and _is_key(
                route, name, names, near
            ):
                yield from _places(route, name, patterns)


def _is_key(route: Route, name: str, names: Names, near: set[str]) -> bool:
    view = View(route.callback)
    for parameter, path in view.lookups():
        if parameter == name and view.model is not None:
            field = view.id_at(path)
            return field is not None and _is_of(field, names)
    if view.model is not None and name in ("pk", "id"):
        return view.model in names.moved
    if names.is_key(name) or names.is_moved(name):
        return True
    # order/<int:note_id>/ may be the key of an OrderNote.
    is_unknown = name in ("pk", "id") or names.is_of_unknown(name)
    return is_unknown and _file_of(route.callback) in near


def _is_of(field: SortableIDField, names: Names) -> bool:
    return any(final_target(each._meta.pk) is field for each in names.moved)


def _places(route: Route, parameter: str, patterns: Iterable[_Pattern]) -> Iterator[Finding]:
    """The calls that may have added the URL; the URL itself if there are none."""
    likely = [each for each in patterns if each.text in route.url and f"{parameter}>" in each.text]
    view = View(route.callback).cls
    name = getattr(view or route.callback, "__name__", "")
    exact = [each for each in likely if name in each.views]
    of_module = [each for each in likely if each.file.path.as_posix() == _file_of(route.callback)]
    for each in exact or of_module or likely:
        yield Finding("url", each.file.shown, each.line, each.text)
    if not likely:
        yield Finding("url", f"URL of {name}", None, route.url)


def _file_of(callback: Any) -> str:
    view = View(callback).cls or callback
    module = sys.modules.get(getattr(view, "__module__", ""))
    return str(getattr(module, "__file__", ""))


def _patterns(file: SourceFile) -> Iterator[_Pattern]:
    if not any(f"{each}(" in file.text for each in _CALLS) or ">" not in file.text:
        return
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in _CALLS and len(node.args) > 1:
            views = frozenset(filter(None, map(name_of, ast.walk(node.args[1]))))
            for each in ast.walk(node.args[0]):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield _Pattern(each.value, views, file, each.lineno)
