"""Looks through Python code for places that expect a key to be a number, or that keep one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .files import SourceFile
from .finding import Finding
from .names import Names
from .rules import numbers, uses
from .rules.context import Context
from .rules.keys import Keys
from .rules.sql import Statements

_TRIGGERS = re.compile(
    r"\b(?:int|isinstance|RawSQL|execute|raw|extra)\(|\b(?:id|pk|session)\b|_(?:id|pk)s?\b|"
    r"(?i:\b(?:from|join|into|update)\s)"
)
_RULES = {
    ast.Call: (*numbers.OF_CALLS, *uses.OF_CALLS),
    ast.Subscript: uses.OF_ITEMS,
    ast.Constant: uses.OF_CONSTANTS,
    ast.Dict: numbers.OF_DICTS,
    ast.BinOp: numbers.OF_OPERATIONS,
    ast.Compare: numbers.OF_COMPARISONS,
    ast.FormattedValue: numbers.OF_FORMATS,
    ast.Assign: (*numbers.OF_ASSIGNMENTS, *uses.OF_ASSIGNMENTS),
}
"""What each kind of node is asked."""


@dataclass(frozen=True, slots=True)
class Code:
    """What to look for."""

    moved: Names
    no_numbers: Names
    """Of these, the ones whose new key is no number."""
    has_uuids: bool
    statements: Statements

    def found(self, file: SourceFile) -> Iterator[Finding]:
        """The findings in a file; none if it is no valid Python."""
        if not _TRIGGERS.search(file.text):
            return
        try:
            tree = ast.parse(file.text)
        except (SyntaxError, ValueError):
            return
        context = self._context(file)
        lines, seen = file.text.splitlines(), set()
        for node, cls in _nodes(tree):
            for rule in _RULES[type(node)]:
                for kind, text in rule(context, node, cls):
                    line = node.lineno
                    if (kind, line) not in seen:
                        seen.add((kind, line))
                        shown = text or lines[line - 1].strip()[:100]
                        yield Finding(kind, file.shown, line, shown)

    def _context(self, file: SourceFile) -> Context:
        return Context(
            Keys(self.moved, file.is_near),
            Keys(self.no_numbers, file.is_near and bool(self.no_numbers.moved)),
            self.has_uuids,
            self.statements,
        )


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Each node with rules, in the order of the file, and the name of the class that it is in."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, cls = waiting.pop()
        if isinstance(node, ast.expr | ast.stmt) and type(node) in _RULES:
            yield node, cls
        if _is_docstring(node):
            continue
        inner = node.name if isinstance(node, ast.ClassDef) else cls
        waiting += ((each, inner) for each in reversed(list(ast.iter_child_nodes(node))))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
