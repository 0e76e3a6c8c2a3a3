"""Who calls a field, where Django and other packages have no hook that tells: the only place that
reads the call stack.

Some callers pass on what a visitor sent. For these, a malformed id is a visitor's mistake: nothing
is found, the page is 404, or the visitor is logged out. For all others it is a programming error.
Others pass on what the driver returned.
Django gives ``get_pk_value_on_save()`` and ``pre_save()`` no argument that says whether the row may
exist (``AutoField`` leaves the key to the database).
"""

import sys
from types import FrameType
from typing import Any

from django.db import models

Function = tuple[str, str]
"""A module, and the qualified name of a function in it."""

CURSORS: frozenset[Function] = frozenset(
    {("rest_framework.pagination", "CursorPagination.paginate_queryset")}
)
"""They compare a column with the text in ``?cursor=``."""

SESSIONS: frozenset[Function] = frozenset(
    {
        ("django.contrib.auth", "_get_user_session_key"),
        ("django.contrib.auth", "_aget_user_session_key"),
    }
)
"""They read the user's key from a session, which may be older than the key's current type."""

QUERIES: frozenset[Function] = frozenset({("django.db.models.sql.query", "Query.try_transform")})
"""It refuses a lookup that it doesn't find; Django's checks only look for it."""

UPDATES: frozenset[Function] = frozenset(
    {
        ("django.db.models.sql.compiler", "SQLUpdateCompiler.pre_sql_setup"),
        ("django.db.models.sql.subqueries", "UpdateQuery.get_related_updates"),
    }
)
"""They look up keys as the driver returned them: for an UPDATE of a model and its parent, and on
MySQL for each one with a join."""


def is_called_by(functions: frozenset[Function]) -> bool:
    """Whether one of the functions is on the call stack; asked only for what is wrong."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_qualname) in functions:
            return True
        frame = frame.f_back
    return False


def is_admin_search() -> bool:
    """Whether the caller's caller builds the admin's search, which looks for ``exact``."""
    return sys._getframe(2).f_code.co_name == "construct_search"


def inserts_later() -> bool:
    """Whether the caller's caller leaves the key to ``pre_save()``: a ``save()`` that is not of a
    fixture, or a ``bulk_create()`` that ignores or updates rows that exist."""
    caller = sys._getframe(2)
    save = models.Model._save_table  # type: ignore[attr-defined]
    if caller.f_code is save.__code__:
        return not caller.f_locals["raw"]
    caller = caller.f_back or caller
    is_bulk = caller.f_code is models.QuerySet.bulk_create.__code__
    return is_bulk and caller.f_locals["on_conflict"] is not None


def may_meet_a_row() -> bool:
    """Whether the caller's caller compiles an INSERT that ignores or updates rows that exist."""
    compiler: Any = sys._getframe(2).f_locals.get("self")
    return bool(getattr(getattr(compiler, "query", None), "on_conflict", None))
