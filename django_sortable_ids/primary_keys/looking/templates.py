"""Looks through templates for keys that are written as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .files import SourceFile
from .finding import Finding
from .names import Names

_KEY = r"((?:\w+\.)*\w+)"
_CALCULATED = re.compile(
    rf"\b{_KEY}\|(?:add|divisibleby|intcomma|floatformat|stringformat:\"[^\"]*[di]\")"
)
_COMPARED = re.compile(rf"{{%\s*(?:el)?if\b[^%]*?\b{_KEY}\s*(?:==|!=|<|>|<=|>=)\s*\d+\b")
_SCRIPT = re.compile(
    r"<script\b[^>]*>(.*?)</script>|\son\w+=(?:\"(.*?)\"|'(.*?)')", re.DOTALL | re.IGNORECASE
)
_UNQUOTED = re.compile(rf"(?<![\w'\"/#.&?=;\-}}])\s*{{{{\s*{_KEY}\s*}}}}(?![\w'\"/\-])")
_ASSIGNED = re.compile(rf"[=(,:\[]\s*{{{{\s*{_KEY}\s*}}}}\s*[;,)\]}}\n]")


def found(file: SourceFile, names: Names) -> Iterator[Finding]:
    """The findings in a template. ``names`` are of keys that are no numbers."""
    text, seen = file.text, set()
    for start, path in _candidates(text):
        line = text.count("\n", 0, start) + 1
        if line not in seen and _is_key(path, names, file.is_near):
            seen.add(line)
            shown = text.splitlines()[line - 1].strip()[:100]
            yield Finding("template", file.shown, line, shown)


def _candidates(text: str) -> Iterator[tuple[int, str]]:
    for pattern in (_CALCULATED, _COMPARED):
        for match in pattern.finditer(text):
            yield match.start(1), match[1]
    for script in _SCRIPT.finditer(text):
        for match in _ASSIGNED.finditer(text, *script.span()):
            if not _is_quoted(text[script.start() : match.start()]):
                yield match.start(1), match[1]


def _is_quoted(before: str) -> bool:
    """Whether a string of JavaScript is open at the end of this line."""
    line = before.rpartition("\n")[2]
    return line.count("'") % 2 == 1


def _is_key(path: str, names: Names, is_near: bool) -> bool:
    *before, last = path.split(".")
    is_key = names.is_key(last)
    if is_key is None and before:
        is_key = names.is_moved(before[-1])
    elif is_key is None:
        return False
    return is_near if is_key is None else is_key
