"""The schemes that an id may have."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from ...fields import SortableIDField
from ...schemes import Scheme, TimeScheme, all_schemes, get

_VARIANTS = (
    ("sonyflake", {"version": 1}),
    ("kuuid", {"groups": 1}),
    ("kuuid", {"groups": 2}),
    ("kuuid", {"groups": 3}),
    ("kuuid_ms", {"groups": 1}),
    ("kuuid_ms", {"groups": 2}),
    ("kuuid_ms", {"groups": 3}),
)
"""Options that are usual, besides the defaults of the catalogue."""


def as_format(scheme: Scheme) -> Scheme:
    """The scheme without what only matters for new ids, so that equal formats are equal."""
    if not isinstance(scheme, TimeScheme):
        return scheme
    return _as_format(scheme)


@lru_cache(maxsize=256)
def _as_format(scheme: TimeScheme) -> TimeScheme:
    return replace(scheme, worker=None, node=None, accepts_other_versions=False)


def known_schemes(fields: Iterable[SortableIDField] = ()) -> tuple[Scheme, ...]:
    """The formats of the fields, those of the catalogue, and their usual variants. Each once."""
    return tuple(dict.fromkeys(map(as_format, _all(fields))))


def _all(fields: Iterable[SortableIDField]) -> Iterator[Scheme]:
    for field in fields:
        yield field.scheme
    yield from all_schemes()
    for name, options in _VARIANTS:
        yield get(name, **options)


def label(scheme: Scheme) -> str:
    """The title of a scheme; with its name or epoch if the catalogue has others of this title."""
    same = [each for each in all_schemes() if each.title == scheme.title]
    names = {each.name for each in same} | {scheme.name}
    found = scheme.title if len(names) < 2 else f"{scheme.title} ({scheme.name})"
    if isinstance(scheme, TimeScheme):
        epochs = {each.epoch_ns for each in same if isinstance(each, TimeScheme)}
        if scheme.epoch_ns not in epochs:
            return f"{found}, {scheme.earliest:%Y-%m-%d}"
    return found
