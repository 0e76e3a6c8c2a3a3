"""Rules for code that keeps a key outside of the columns that a migration changes."""

from __future__ import annotations

import ast
from typing import Any

from .context import Context, Found
from .keys import name_of, texts

_SQL = frozenset({"raw", "execute", "executemany", "extra", "RawSQL"})
_TASKS = frozenset({"delay", "delay_on_commit", "apply_async", "send", "send_with_options"})
_TASKS |= {"enqueue", "async_task", "send_task"}
_SIGNERS = frozenset({"sign", "sign_object"})
_ENCODERS = {"signing": "signed", "jwt": "signed", "json": "json"}
"""The modules of ``dumps`` and ``encode``, with the kind of the finding."""
_ENCODE = frozenset({"dumps", "encode"})
_CACHE = frozenset({"get", "set", "add", "delete", "get_or_set", "touch", "incr", "decr"})
_ITEMS = frozenset({"get", "pop", "setdefault"})


def _task(context: Context, node: Any, cls: str) -> Found:
    """``send_invoice.delay(order.pk)``, but no ``signal.send(sender=...)``."""
    if name_of(node) in _TASKS and not _gives(node, "sender") and _is_given(context, node, cls):
        yield "task", ""


def _signed(context: Context, node: Any, cls: str) -> Found:
    """``signer.sign(order.pk)``, ``signing.dumps({"order": order.pk})``"""
    is_encoder = name_of(node) in _ENCODE and _owner(node) in _ENCODERS
    kind = "signed" if name_of(node) in _SIGNERS else _ENCODERS.get(_owner(node))
    if kind and (is_encoder or kind == "signed") and _is_given(context, node, cls):
        can_fail = context.has_uuids and not _gives(node, "cls") and not _gives(node, "default")
        if kind != "json" or can_fail:
            yield kind, ""


def _cached(context: Context, node: Any, cls: str) -> Found:
    """``cache.get(f"order:{order.pk}")``"""
    is_cache = name_of(node) in _CACHE and _owner(node).lower().endswith(("cache", "caches"))
    if is_cache and node.args and context.moved.are_in(node.args[0], cls):
        yield "cache", ""


def _read_from_session(context: Context, node: Any, cls: str) -> Found:
    """``request.session.get("order_id")``"""
    if name_of(node) in _ITEMS and _owner(node) == "session" and node.args:
        yield from _item(context, node.args[0])


def _in_session(context: Context, node: Any, cls: str) -> Found:
    """``request.session["order_id"]``, ``request.session[f"basket {basket.pk}"]``"""
    if name_of(node.value) == "session":
        yield from _item(context, node.slice)
        if context.moved.are_in(node.slice, cls) and not isinstance(node.slice, ast.Name):
            yield "session", ""


def _written_to_session(context: Context, node: Any, cls: str) -> Found:
    """``request.session["order"] = order.pk``"""
    targets = (each for each in node.targets if isinstance(each, ast.Subscript))
    is_written = any(name_of(each.value) == "session" for each in targets)
    if is_written and context.moved.are_in(node.value, cls):
        yield "session", ""


def _part_of_sql(context: Context, node: Any, cls: str) -> Found:
    """``queryset.extra(where=["customer_id = 1"])``"""
    if name_of(node) in _SQL:
        found = context.statements.references_in(" ".join(texts(_arguments(node))))
        if found:
            yield "sql", found


def _statement(context: Context, node: Any, cls: str) -> Found:
    if isinstance(node.value, str) and (found := context.statements.named(node.value)):
        yield "sql", found


OF_CALLS = (_task, _signed, _cached, _read_from_session, _part_of_sql)
OF_ASSIGNMENTS = (_written_to_session,)
OF_ITEMS = (_in_session,)
OF_CONSTANTS = (_statement,)


def _item(context: Context, name: ast.AST) -> Found:
    names = context.moved.names
    match name:
        case ast.Constant(value=str(text)) if names.is_key(text) or names.is_several(text):
            yield "session", ""


def _owner(call: ast.Call) -> str:
    """The last name before the dot: ``session`` of ``request.session.get()``, ``caches`` of
    ``caches["pages"].get()``."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(of, ast.Subscript):
        of = of.value
    return "" if of is None else name_of(of)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _is_given(context: Context, call: ast.Call, cls: str) -> bool:
    """Whether an argument is a key, or contains one."""
    return any(context.moved.are_in(each, cls) for each in _arguments(call))


def _gives(call: ast.Call, name: str) -> bool:
    return any(each.arg == name for each in call.keywords)
