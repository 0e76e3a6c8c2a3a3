"""What stands in a query for a text that is no id."""

from typing import Any

from ..schemes.messages import shown


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
