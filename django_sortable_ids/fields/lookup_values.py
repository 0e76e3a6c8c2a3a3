"""Values that lookups use for a text that is no id, or that may be one of several ids."""

from dataclasses import dataclass
from typing import Any

from ..schemes import ID
from ..schemes.errors import shown


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
