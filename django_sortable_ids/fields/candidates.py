"""What stands in a query for a masked text that several keys can read."""

from dataclasses import dataclass

from ..schemes import ID


@dataclass(frozen=True, slots=True)
class Candidates:
    """The values that one public text may stand for, the likeliest first: always two or more.

    ``exact`` and ``in`` look up all of them, also through relations. Where there is room for one
    value only, the field takes the one that a row has. It stands in lookups and nowhere else.
    """

    values: tuple[ID, ...]

    def __repr__(self) -> str:
        return "<masked id>"
