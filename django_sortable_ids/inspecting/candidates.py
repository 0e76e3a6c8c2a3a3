"""From a text to the schemes that it may be an id of, the most likely first."""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from ..fields import SortableIDField
from ..schemes import (
    ID,
    MILLISECOND,
    SECOND,
    InvalidID,
    OutOfRange,
    Scheme,
    TimeScheme,
    all_schemes,
    get,
)
from .parts import Anatomy, Picture, anatomy, picture

_UNKNOWN_PREFIX = re.compile("[a-z](?:[a-z0-9_]*[a-z0-9])?[_:]")
_MOST_NAMES = 3
_UUID_BITS = 128
_RANDOM = 4
"""The UUID version that is random, unless its generator is known."""
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_VARIANTS: tuple[tuple[str, dict[str, int]], ...] = (
    ("sonyflake", {"version": 1}),
    ("kuuid", {"short": True}),
    ("kuuid_ms", {"short": True}),
)
"""Options that are usual, besides the defaults of the catalogue."""


@dataclass(frozen=True)
class Candidate:
    """A scheme that an id may have, and what the id says if it is of this scheme."""

    scheme: Scheme
    value: ID
    encoding: str
    """The text form in which the id was spelled."""
    fields: tuple[SortableIDField, ...]
    """The ids of the project that have this scheme."""
    prefix: str = ""
    """The prefix of the text, with its separator."""
    is_of_prefix: bool = False
    """Whether the prefix is that of the field."""
    masked_by: SortableIDField | None = None
    """The field whose public texts hide the time, if the text is one of them."""

    @cached_property
    def created(self) -> datetime | None:
        """UTC; None without a time, as in a UUID of another version, or after the year 9999."""
        with suppress(OutOfRange, InvalidID):
            if isinstance(self.scheme, TimeScheme):
                return self.scheme.created_at(self.value)
        return None

    @cached_property
    def doubt(self) -> str | None:
        """Why the id is probably not of this scheme; None if it may well be."""
        scheme, created = self.scheme, self.created
        if not isinstance(scheme, TimeScheme):
            return None if self.fields else _("any short text fits a sequence")
        if not scheme.carries_time(self.value):
            return None
        if created is None or created > timezone.now().astimezone(UTC) + _DAY:
            return _("its time is in the future")
        if created < _FIRST:
            return _("its time is before the year 2000")
        if scheme.earliest >= _FIRST and created - scheme.earliest < _DAY:
            return _("its time is in the first day of the scheme: it may be a plain number")
        if scheme.layout.template.version == _RANDOM and not self.fields:
            return _("UUIDs of version 4 are random, unless their generator gives them a time")
        return None

    @property
    def is_likely(self) -> bool:
        return self.is_of_prefix or self.doubt is None

    @property
    def order(self) -> tuple[int, ...]:
        """Candidates sort by it: the more a text had to fulfil, the more likely is the scheme."""
        timed = self.scheme if isinstance(self.scheme, TimeScheme) else None
        fixed_bits = 0
        if timed and timed.layout.template.version is not None:
            free = timed.layout.ticks * timed.layout.suffixes
            fixed_bits = timed.bits - (free - 1).bit_length()
        return (
            not self.is_of_prefix,
            self.doubt is not None,
            not self.fields,
            not timed,
            -fixed_bits,
            not self.is_usual_spelling,
        )

    @property
    def is_usual_spelling(self) -> bool:
        """Whether ids of the scheme are usually shown in this text form."""
        return self.encoding in {self.scheme.encodings[0], self.scheme.public_encoding}

    # For people and programs

    @property
    def label(self) -> str:
        """The title of the scheme; with its epoch if the catalogue has another for the title."""
        scheme = self.scheme
        namesakes = (other for other in all_schemes() if other.title == scheme.title)
        if not isinstance(scheme, TimeScheme) or scheme.epoch_ns in {
            getattr(other, "epoch_ns", None) for other in namesakes
        }:
            return scheme.title
        return f"{scheme.title}, {scheme.earliest:%Y-%m-%d}"

    @property
    def use(self) -> str:
        """Which ids of the project have this scheme; empty if none have."""
        names = ", ".join(map(str, self.fields[:_MOST_NAMES]))
        if len(self.fields) > _MOST_NAMES:
            names += ", ..."
        return names and _("ids of this project: %(fields)s") % {"fields": names}

    @property
    def utc(self) -> str | None:
        """The time in ISO 8601, with as many digits as the scheme has."""
        if self.created is None or not isinstance(self.scheme, TimeScheme):
            return None
        units = ((SECOND, "seconds"), (MILLISECOND, "milliseconds"))
        names = (name for unit, name in units if self.scheme.tick_ns % unit == 0)
        text = self.created.astimezone(UTC).isoformat(timespec=next(names, "microseconds"))
        return text.replace("+00:00", "Z")

    @property
    def local(self) -> datetime | None:
        """The time in the current time zone; None if that has no such year."""
        with suppress(OverflowError, ValueError):
            return None if self.created is None else timezone.localtime(self.created)
        return None

    @cached_property
    def anatomy(self) -> Anatomy | None:
        """Its parts; None without a time."""
        return anatomy(self.scheme, self.value)

    @cached_property
    def picture(self) -> Picture | None:
        """None if its parts share digits."""
        return picture(self.anatomy) if self.anatomy and self.anatomy.text else None

    @property
    def is_newest_first(self) -> bool:
        """Whether newer ids are smaller, so that the digits are complements."""
        return isinstance(self.scheme, TimeScheme) and self.scheme.descending

    @property
    def spellings(self) -> Mapping[str, str]:
        """Its texts by encoding; also its number, its bytes in hexadecimal, and its UUID."""
        scheme, number = self.scheme, self.scheme.to_int(self.value)
        texts = {encoding: scheme.format(self.value, encoding) for encoding in scheme.encodings}
        other_texts = {"integer": str(number)}
        if isinstance(scheme, TimeScheme):
            other_texts["bytes"] = scheme.to_bytes(self.value).hex()
            if scheme.bits == _UUID_BITS:
                other_texts["uuid"] = str(uuid.UUID(int=number))
        shown = set(texts.values())
        return texts | {name: text for name, text in other_texts.items() if text not in shown}


def candidates(
    text: str, schemes: Sequence[Scheme], fields: Sequence[SortableIDField] = ()
) -> list[Candidate]:
    """Every scheme that accepts the text, the most likely first; none for a malformed text.

    ``fields`` are the ids of the project that may be named. A text of one of their prefixes is
    read as this field reads it.
    """
    known = {prefix for field in fields for prefix in field.public_text.accepted_prefixes if prefix}
    read = [*_of_prefixes(text, fields), *_of_schemes(text, schemes, fields)]
    unknown = None if text.startswith(tuple(known)) else _UNKNOWN_PREFIX.match(text)
    if unknown:
        read += _of_schemes(text[unknown.end() :], schemes, fields, unknown[0])
    by_scheme: dict[tuple[Scheme, ID], Candidate] = {}
    for candidate in read:
        by_scheme.setdefault((candidate.scheme, candidate.value), candidate)
    return sorted(by_scheme.values(), key=lambda kept: kept.order)


def of_value(field: SortableIDField, value: ID) -> Candidate:
    lacks_time = isinstance(field.scheme, TimeScheme) and not field.scheme.carries_time(value)
    scheme = field.scheme if lacks_time else as_format(field.scheme)
    encoding = field.public_text.encoding or scheme.encodings[0]
    masked_by = field if field.masked else None
    return Candidate(scheme, value, encoding, (field,), masked_by=masked_by)


def _of_prefixes(text: str, fields: Iterable[SortableIDField]) -> Iterator[Candidate]:
    for field in fields:
        prefixes = filter(text.startswith, field.public_text.accepted_prefixes)
        if prefix := max(prefixes, key=len, default=""):
            with suppress(ValidationError):
                for value in field.candidates(text):
                    yield replace(of_value(field, value), prefix=prefix, is_of_prefix=True)


def _of_schemes(
    text: str, schemes: Iterable[Scheme], fields: Iterable[SortableIDField], prefix: str = ""
) -> Iterator[Candidate]:
    by_scheme: dict[Scheme, list[SortableIDField]] = {}
    for field in fields:
        by_scheme.setdefault(as_format(field.scheme), []).append(field)
    for scheme in schemes:
        users = tuple(by_scheme.get(scheme, ()))
        for encoding in scheme.encodings:
            with suppress(InvalidID):
                value = scheme.parse(text, encoding)
                yield Candidate(scheme, value, encoding, users, prefix)


def known_schemes(fields: Iterable[SortableIDField]) -> tuple[Scheme, ...]:
    """The formats of the fields, those of the catalogue, and their usual variants. Each once."""
    variants = (get(name, **options) for name, options in _VARIANTS)
    schemes = (*(field.scheme for field in fields), *all_schemes(), *variants)
    return tuple(dict.fromkeys(map(as_format, schemes)))


@lru_cache(maxsize=256)
def as_format(scheme: Scheme) -> Scheme:
    """The scheme without what only matters for new ids, so that equal formats are equal."""
    if not isinstance(scheme, TimeScheme):
        return scheme
    return replace(scheme, worker=None, accepts_other_versions=False)
