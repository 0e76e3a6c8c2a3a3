"""Which expressions of Python are keys that move."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..names import Names

_READERS = frozenset({"get", "pop", "getattr", "setdefault", "getlist"})
_TEXTS = frozenset({"str", "force_str", "smart_str"})
_INSIDE = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Starred, ast.JoinedStr, ast.FormattedValue)


def name_of(node: ast.AST) -> str:
    """The last name of ``a.b.name``, or of a call of it; empty for other expressions."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return name_of(function)
    return ""


@dataclass(frozen=True, slots=True)
class Keys:
    """``cls`` is the class in which the expression is, or empty."""

    names: Names
    is_near: bool
    """Whether keys of unknown rows count, because the file has to do with moved models."""

    def is_key(self, node: ast.AST, cls: str = "") -> bool:
        match node:
            case ast.Name(id=name):
                return self.is_key_name(name)
            case ast.Attribute(value=of, attr="id" | "pk"):
                return self._has_moved_key(of, cls)
            case ast.Attribute(attr=name):
                return self.names.is_key(name) is True
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                return self.is_key_name(name)
            case ast.Call(func=function, args=[argument, *_]) if name_of(function) in _TEXTS:
                return self.is_key(argument, cls)
            case ast.Call(func=function, args=arguments) if name_of(function) in _READERS:
                return any(self._is_read(each, cls) for each in arguments)
        return False

    def _is_read(self, argument: ast.AST, cls: str) -> bool:
        """Whether an argument of ``getattr(row, "pk")`` or ``data.get("queue", queue.pk)`` is a
        key, or the name of one."""
        match argument:
            case ast.Constant(value=str(name)):
                return self.is_key_name(name)
            case ast.Attribute():
                return self.is_key(argument, cls)
        return False

    def is_key_name(self, name: str) -> bool:
        """Whether a variable, a parameter or an item of that name is a key."""
        found = self.names.is_key(name.strip("_"))
        return self.is_near if found is None else found

    def are_keys(self, node: ast.AST) -> bool:
        """Whether the expression is named like several keys."""
        name = name_of(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        is_unknown = name.endswith(("ids", "pks")) and self.names.is_moved(name[:-4]) is None
        return self.names.is_several(name) or (is_unknown and self.is_near)

    def are_in(self, node: ast.AST, cls: str = "") -> bool:
        """Whether a key is an element of the expression: of a list, a dict, an f-string."""
        return any(self.is_key(each, cls) or self.are_keys(each) for each in _elements(node))

    def _has_moved_key(self, row: ast.AST, cls: str) -> bool:
        match row:
            case ast.Name(id="self" | "cls"):
                found = self.names.is_class_moved(cls)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found = self.names.is_moved(name)
            case _:
                found = None
        return self.is_near if found is None else found


def _elements(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, _INSIDE):
        for each in ast.iter_child_nodes(node):
            yield from _elements(each)
    elif isinstance(node, ast.BinOp):
        yield from _elements(node.left)
        yield from _elements(node.right)
    elif isinstance(node, ast.Call) and name_of(node) == "format":
        for argument in node.args:
            yield from _elements(argument)


def is_number(node: ast.AST) -> bool:
    """Whether it is an integer, or a list of integers."""
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return bool(elements) and all(map(is_number, elements))
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
    return False


def texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The texts in these expressions."""
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value
