"""Values that lookups use for a text that is no id, or that may be one of several ids.

Some callers in Django and REST framework pass on what a visitor sent. For these, a malformed id is
a visitor's mistake: nothing is found, the page is 404, or the visitor is logged out. For all other
callers it is a programming error and must be raised. The callers have no hook that identifies them,
so the call stack is read, but only after an id proved malformed.
"""

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ...schemes import ID
from ...schemes.errors import shown


class Malformed:
    """A malformed id on its way through a lookup.

    It equals None: Django's ``In`` discards None from its list, so it drops this value and keeps
    the others, in ``exclude`` as well. As the only value, it makes the lookup find nothing.
    """

    __slots__ = ("found",)

    def __init__(self, found: Any) -> None:
        self.found = found

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Malformed)

    def __repr__(self) -> str:
        return f"<malformed id: {shown(self.found)}>"

    def __hash__(self) -> int:
        return hash(None)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The values that one public text may stand for, the likeliest first: always two or more.

    ``exact`` and ``in`` look up all of them, also through relations. Where only one value fits,
    the field takes the one that exists in the table. Used in lookups only.
    """

    values: tuple[ID, ...]

    def __repr__(self) -> str:
        return "<masked id>"


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


def is_called_by(functions: frozenset[Function]) -> bool:
    """Whether one of the functions is on the call stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_qualname) in functions:
            return True
        frame = frame.f_back
    return False
