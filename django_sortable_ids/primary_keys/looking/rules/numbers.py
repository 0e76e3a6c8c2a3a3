"""Rules for code that takes a key for a number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from .context import Context, Found
from .keys import Keys, is_number, name_of, texts

_OWN = ("id", "pk")
_DIGIT_TESTS = frozenset({"isdigit", "isnumeric", "isdecimal"})
_QUERIES = frozenset({"get", "filter", "exclude", "get_or_create", "update_or_create", "create"})
_QUERIES |= {"get_object_or_404", "aget", "acreate"}
_INPUTS = frozenset({"IntegerField", "NumberFilter", "DecimalField"})
_PLACEHOLDER = re.compile(r"%(?:\((\w+)\))?[-+ #0]*[\d.*]*([a-zA-Z%])")
_FORMAT = re.compile(r"\{[^{}]*:[^{}]*d\}")
_SPEC = re.compile(r"[<>=^+\-, 0-9_]*[dxob]|0\d+")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_ORDERS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
_EQUALS = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def _converted(context: Context, node: Any, cls: str) -> Found:
    """``int(pk)``, ``isinstance(pk, int)``, ``pk.isdigit()``"""
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[key]):
            is_found = True
        case ast.Call(func=ast.Name(id="isinstance"), args=[key, kinds]):
            is_found = any(name_of(each) == "int" for each in ast.walk(kinds))
        case ast.Call(func=ast.Attribute(value=key, attr=name)):
            is_found = name in _DIGIT_TESTS
        case _:
            return
    if is_found and context.numbers.is_key(key, cls):
        yield "number", ""


def _written(context: Context, node: Any, cls: str) -> Found:
    """``log("order %d", pk)``, ``"{:05d}".format(pk)``"""
    values: Sequence[ast.AST] = ()
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            values = node.args if _FORMAT.search(text) else ()
        case ast.Call(func=ast.Attribute(), args=[ast.Constant(value=str(text)), *rest]):
            values = list(_formatted(text, rest))
    if any(context.numbers.is_key(each, cls) for each in values):
        yield "number", ""


def _converted_to_key(context: Context, node: Any, cls: str) -> Found:
    """``Order.objects.get(pk=int(text))``"""
    if any(_is_int(each.value) for each in _keys_of(node, context.numbers)):
        yield "number", ""


def _converted_in_dict(context: Context, node: Any, cls: str) -> Found:
    """``{"order_id": int(text)}``"""
    for key, value in zip(node.keys, node.values, strict=True):
        is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
        if _is_int(value) and is_text and context.numbers.is_key_name(key.value):
            yield "number", ""


def _assigned(context: Context, node: Any, cls: str) -> Found:
    """``order_id = int(text)``, ``order_ids = [int(each) for each in texts]``"""
    names = [each for each in node.targets if isinstance(each, ast.Name)]
    is_list = isinstance(node.value, ast.ListComp | ast.SetComp) and _is_int(node.value.elt)
    is_key = _is_int(node.value) and any(context.numbers.is_key_name(each.id) for each in names)
    if is_key or (is_list and any(map(context.numbers.are_keys, names))):
        yield "number", ""


def _constant(context: Context, node: Any, cls: str) -> Found:
    """``Order.objects.get(pk=1)``"""
    is_query = name_of(node) in _QUERIES
    if is_query and any(is_number(each.value) for each in _keys_of(node, context.moved)):
        yield "constant", ""


def _calculated(context: Context, node: Any, cls: str) -> Found:
    """``"%05d" % pk``, ``pk + 1``"""
    match node:
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            values = right.elts if isinstance(right, ast.Tuple) else [right]
            is_found = any(context.numbers.is_key(each, cls) for each in _formatted(text, values))
        case ast.BinOp(left=left, op=operator, right=right):
            is_found = isinstance(operator, _OPERATORS) and any(
                is_number(one) and context.numbers.is_key(other, cls)
                for one, other in ((left, right), (right, left))
            )
    if is_found:
        yield "number", ""


def _compared(context: Context, node: Any, cls: str) -> Found:
    """``type(pk) is int``, ``pk > 0``, ``pk == 1``"""
    is_key, sides = context.numbers.is_key, [node.left, *node.comparators]
    match node.left:
        case ast.Call(func=ast.Name(id="type"), args=[key]) if is_key(key, cls):
            yield "number", ""
    if any(is_key(each, cls) for each in sides) and any(map(is_number, sides)):
        if isinstance(node.ops[0], _ORDERS):
            yield "number", ""
        elif isinstance(node.ops[0], _EQUALS):
            yield "constant", ""


def _in_f_string(context: Context, node: Any, cls: str) -> Found:
    """``f"{pk:05d}"``"""
    spec = "".join(texts([node.format_spec])) if node.format_spec else ""
    if _SPEC.fullmatch(spec) and context.numbers.is_key(node.value, cls):
        yield "number", ""


def _declared(context: Context, node: Any, cls: str) -> Found:
    """``order_id = forms.IntegerField()``"""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)) if cls:
            of = name_of(function.value) if isinstance(function, ast.Attribute) else ""
            is_model = of == "models" or context.moved.names.is_class_moved(cls) is not None
            is_input = name_of(function) in _INPUTS and not is_model
            if is_input and context.numbers.is_key_name(name):
                yield "input", ""


OF_CALLS = (_converted, _converted_to_key, _written, _constant)
OF_DICTS = (_converted_in_dict,)
OF_OPERATIONS = (_calculated,)
OF_COMPARISONS = (_compared,)
OF_FORMATS = (_in_f_string,)
OF_ASSIGNMENTS = (_assigned, _declared)


def _keys_of(call: ast.Call, keys: Keys) -> Iterator[ast.keyword]:
    """The arguments that are named like keys, unless they are of a model whose key stays."""
    is_other = keys.names.is_class_moved(_class_of(call)) is False
    for each in call.keywords:
        name = each.arg or ""
        if keys.is_key_name(name) and not (is_other and name in _OWN):
            yield each


def _is_int(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"


def _class_of(call: ast.Call) -> str:
    """The name of the model in ``Model.objects.get()`` and ``get_object_or_404(Model)``."""
    if name_of(call) == "get_object_or_404":
        return name_of(call.args[0]) if call.args else ""
    node: ast.AST = call.func
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return name_of(node)


def _formatted(text: str, values: list[ast.expr]) -> Iterator[ast.AST]:
    """The values that a ``%d`` of the text formats."""
    found = [each for each in _PLACEHOLDER.findall(text) if each[1] != "%"]
    for place, (name, kind) in enumerate(found):
        if kind in "diouxX":
            yield from _named(name, values) if name else values[place : place + 1]


def _named(name: str, values: list[ast.expr]) -> Iterator[ast.AST]:
    """The value of that name in a dict."""
    for each in values[:1]:
        if isinstance(each, ast.Dict):
            for key, value in zip(each.keys, each.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    yield value
