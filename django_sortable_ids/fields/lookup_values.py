"""What stands in a query for a text that is no id, or that may be several."""

from dataclasses import dataclass
from typing import Any

from ..schemes import ID
from ..schemes.errors import shown


class Malformed:
    """A malformed id on its way through a lookup.

    It equals None, so that Django's ``In``, which discards None from its list, drops it and keeps
    its neighbours, in ``exclude`` as well; as the only value it makes the lookup find nothing.
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

    ``exact`` and ``in`` look up all of them, also through relations. Where there is room for one
    value only, the field takes the one that a row has. It stands in lookups and nowhere else.
    """

    values: tuple[ID, ...]

    def __repr__(self) -> str:
        return "<masked id>"
