"""What the call stack tells, where Django and other packages have no argument and no hook that
does. Nothing else here reads it.

Django's tickets about these places are 23617 (a key on ``save()``) and 26001 (the admin's search).
"""

import sys
from types import FrameType
from typing import Any

from django.db import models

SESSIONS = (
    ("django.contrib.auth", "_get_user_session_key"),
    ("django.contrib.auth", "_aget_user_session_key"),
    ("channels.auth", "_get_user_session_key"),
)
"""Read a user's key from a session, which may be older than the key's type."""
UPDATES = (
    ("django.db.models.sql.compiler", "SQLUpdateCompiler.pre_sql_setup"),
    ("django.db.models.sql.subqueries", "UpdateQuery.get_related_updates"),
)
"""Look up keys as the driver returned them, for an UPDATE of a parent, on MySQL of any join."""
CURSORS = (("rest_framework.pagination", "CursorPagination.paginate_queryset"),)
"""Compare with the ``?cursor=`` of a URL."""


def is_called_by(functions: tuple[tuple[str, str], ...]) -> bool:
    """Whether a function (module, qualified name) is on the call stack; asked for what is wrong."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_qualname) in functions:
            return True
        frame = frame.f_back
    return False


def is_called_by_search() -> bool:
    """Whether the caller's caller is the admin's search, which looks whether a lookup exists."""
    return sys._getframe(2).f_code.co_name == "construct_search"


def inserts_later() -> bool:
    """Whether the caller's caller is a ``save()``, or a ``bulk_create()`` that handles conflicts:
    these ask for a key, and their INSERT asks for a value again."""
    caller = sys._getframe(2)
    if caller.f_code is models.Model._save_table.__code__:  # type: ignore[attr-defined]
        return not caller.f_locals["raw"]  # of a fixture
    caller = caller.f_back or caller
    is_bulk = caller.f_code is models.QuerySet.bulk_create.__code__
    return is_bulk and caller.f_locals["on_conflict"] is not None


def handles_conflicts() -> bool:
    """Whether the caller's caller compiles an INSERT that ignores or updates rows that exist."""
    compiler: Any = sys._getframe(2).f_locals.get("self")
    return bool(getattr(getattr(compiler, "query", None), "on_conflict", None))
