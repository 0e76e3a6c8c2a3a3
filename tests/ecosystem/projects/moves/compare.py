"""What differs between two dumps of rows, or of catalogues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

Dump = dict[str, Any]
SHOWN = 3
"""Differences of each table that are shown."""


def content(before: Dump, after: Dump) -> Iterator[str]:
    """Rows whose content changed, and references that point to no row."""
    yield from (f"points to no row: {each}" for each in after["dangling"])
    for table in sorted({*before["content"], *after["content"]}):
        old, new = (Counter(each["content"].get(table, ())) for each in (before, after))
        if old != new:
            yield (
                f"{table}: {(old - new).total()} of {old.total()} rows have another content, "
                f"{(new - old).total()} of {new.total()} are new"
            )


def rows(before: Dump, after: Dump, added: Dump) -> Iterator[str]:
    """Rows of ``before`` that are not in ``after``, and a count of rows that is not ``added``'s."""
    for table in sorted({*before["raw"], *after["raw"]}):
        old, new = (Counter(_texts(each["raw"].get(table, ()))) for each in (before, after))
        yield from (f"{table} had {each}" for each in list(old - new)[:SHOWN])
        wanted = len(added["raw"].get(table, ()))
        if new.total() != wanted:
            yield f"{table}: {new.total()} rows instead of {wanted}"


def _texts(found: list[dict[str, Any]]) -> Iterator[str]:
    return (repr(sorted(each.items())) for each in found)


def catalogues(wanted: Dump, found: Dump) -> Iterator[str]:
    """What the catalogue has and should not have, and the other way round."""
    for table in sorted({*wanted, *found}):
        kinds = wanted.get(table, {}), found.get(table, {})
        for kind in sorted({*kinds[0], *kinds[1]}):
            expected, actual = (Counter(each.get(kind, ())) for each in kinds)
            yield from (f"{table}: no {kind} {each}" for each in list(expected - actual)[:SHOWN])
            yield from (f"{table}: a {kind} {each}" for each in list(actual - expected)[:SHOWN])
