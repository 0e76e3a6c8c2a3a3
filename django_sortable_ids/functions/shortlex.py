"""The order of sequences that grow: by length, then by character."""

from django.db.models import F
from django.db.models.expressions import OrderBy
from django.db.models.functions import Length


def shortlex(name: str) -> tuple[OrderBy, OrderBy]:
    """Length and value of a field, for ``order_by(*shortlex("number"))``; ``"-number"`` descends.

    ``Index(*shortlex("number"), name=...)`` serves it, where the engine has indexes on expressions.
    It is the order of counting where the characters of the sequence are in ASCII order, as those of
    all named sets but ``alpha`` and ``alnum``.
    """
    descending = name.startswith("-")
    field = name.removeprefix("-")
    return (OrderBy(Length(field), descending=descending), OrderBy(F(field), descending=descending))
