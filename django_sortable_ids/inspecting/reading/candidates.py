"""From a text to the schemes that it may be an id of, the most likely first."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from ...fields import SortableIDField
from ...fields.of_model import is_of_another_version
from ...schemes import ID, InvalidID, Scheme, TimeScheme
from . import plausible
from .known_schemes import as_format, label

_SPELLINGS = 9
"""Upper bound of the extra characters in a spelling, such as "urn:uuid:" and padding."""

_UNKNOWN_PREFIX = re.compile("[a-z](?:[a-z0-9_]{0,61}[a-z0-9])?[_:]")
_MOST_NAMES = 3


@dataclass(frozen=True)
class Candidate:
    """A scheme that an id may have, and its value in this scheme."""

    scheme: Scheme
    value: ID
    encoding: str
    """The text form in which the id was spelled."""
    fields: tuple[SortableIDField, ...]
    """The ids of the project that have this scheme."""
    created: datetime | None
    """UTC; None without a time, or after the year 9999."""
    doubt: str | None
    """Why it is not likely."""
    prefix: str = ""
    """The prefix of the text, with its separator."""
    is_of_prefix: bool = False
    """Whether the prefix is that of the field."""
    masked_by: SortableIDField | None = None
    """The field whose public texts hide the time, if the text is one of them."""
    facade: int | None = None
    """The number of the UUID of version 4 that such a text spells."""

    @property
    def is_likely(self) -> bool:
        return self.is_of_prefix or self.doubt is None

    @property
    def label(self) -> str:
        """The name of the scheme, which tells it from others of the same title."""
        return label(self.scheme)

    @property
    def _fixed_bits(self) -> int:
        """How many bits of a UUID had to be right by themselves."""
        if not isinstance(self.scheme, TimeScheme) or self.scheme.layout.template.version is None:
            return 0
        layout = self.scheme.layout
        return self.scheme.bits - (layout.ticks * layout.suffixes - 1).bit_length()

    @property
    def order(self) -> tuple[int, ...]:
        """Candidates sort by it: the more a text had to fulfil, the more likely is the scheme."""
        return (
            not self.is_of_prefix,
            self.doubt is not None,
            not self.fields,
            not isinstance(self.scheme, TimeScheme),
            -self._fixed_bits,
            self.scheme.bits if isinstance(self.scheme, TimeScheme) else 0,
            not self.is_usual_spelling,
        )

    @property
    def is_usual_spelling(self) -> bool:
        """Whether ids of the scheme are usually shown in this text form."""
        usual = {self.scheme.encodings[0], self.scheme.public_encoding}
        return self.encoding in usual

    @property
    def reasons(self) -> list[str]:
        """Why the id may be of this scheme."""
        found = []
        labels = ", ".join(str(field) for field in self.fields[:_MOST_NAMES])
        if len(self.fields) > _MOST_NAMES:
            labels += ", ..."
        if self.is_of_prefix:
            found.append(
                _("“%(prefix)s” is the prefix of %(field)s")
                % {"prefix": self.prefix, "field": labels}
            )
        elif self.fields:
            found.append(_("ids of this project: %(fields)s") % {"fields": labels})
        if isinstance(self.scheme, TimeScheme):
            version = self.scheme.layout.template.version
            if version is not None:
                found.append(
                    pgettext("sortable ids", "its version is %(version)d") % {"version": version}
                )
            if self.doubt is None:
                found.append(_("its time is plausible"))
        if not self.is_usual_spelling:
            found.append(_("it is spelled in %(encoding)s") % {"encoding": self.encoding})
        return found


def candidates(
    text: str, schemes: Sequence[Scheme], fields: Sequence[SortableIDField] = ()
) -> list[Candidate]:
    """Every scheme that accepts the text, the most likely first; none for a malformed text.

    ``fields`` are the ids of the project that may be named. A text of one of their prefixes is
    read as this field reads it.
    """
    found: dict[tuple[Scheme, ID], Candidate] = {}
    for each in (*_of_prefixes(text, fields), *_of_schemes(text, schemes, fields)):
        found.setdefault((each.scheme, each.value), each)
    prefix = None if _has_known_prefix(text, fields) else _UNKNOWN_PREFIX.match(text)
    if prefix:
        bare = text[prefix.end() :]
        for each in _of_schemes(bare, schemes, fields, prefix[0]):
            found.setdefault((each.scheme, each.value), each)
    return sorted(found.values(), key=lambda each: each.order)


def _has_known_prefix(text: str, fields: Iterable[SortableIDField]) -> bool:
    prefixes = (each for field in fields for each in field.public_text.accepted_prefixes)
    return text.startswith(tuple(filter(None, prefixes)))


def _of_prefixes(text: str, fields: Iterable[SortableIDField]) -> Iterator[Candidate]:
    for field in fields:
        prefixes = filter(text.startswith, field.public_text.accepted_prefixes)
        if prefix := max(prefixes, key=len, default=""):
            with suppress(ValidationError):
                yield from _of_field(text, prefix, field)


def _of_field(text: str, prefix: str, field: SortableIDField) -> Iterator[Candidate]:
    for value in field.candidates(text):
        found = replace(of_value(field, value), prefix=prefix, is_of_prefix=True)
        if field.masked:
            with suppress(ValueError):
                facade = field.public_text.form.parse(text[len(prefix) :])
                found = replace(found, facade=facade)
        yield found


def of_value(field: SortableIDField, value: ID) -> Candidate:
    """The candidate of a value that the field has read."""
    has_time = not is_of_another_version(field, value)
    scheme = as_format(field.scheme) if has_time else field.scheme
    created = plausible.created_at(scheme, value)
    return Candidate(
        scheme=scheme,
        value=value,
        encoding=field.public_text.encoding or scheme.encodings[0],
        fields=(field,),
        created=created,
        doubt=plausible.doubt(scheme, created, is_used=True) if has_time else None,
        masked_by=field if field.masked else None,
    )


def _of_schemes(
    text: str, schemes: Iterable[Scheme], fields: Iterable[SortableIDField], prefix: str = ""
) -> Iterator[Candidate]:
    by_scheme: dict[Scheme, list[SortableIDField]] = {}
    for field in fields:
        by_scheme.setdefault(as_format(field.scheme), []).append(field)
    for scheme in schemes:
        for encoding, form in scheme.text_forms:
            if not form.shortest <= len(text) <= form.length + _SPELLINGS:
                continue
            with suppress(InvalidID):
                value = scheme.parse(text, encoding)
                created = plausible.created_at(scheme, value)
                users = tuple(by_scheme.get(scheme, ()))
                yield Candidate(
                    scheme=scheme,
                    value=value,
                    encoding=encoding,
                    fields=users,
                    created=created,
                    doubt=plausible.doubt(scheme, created, is_used=bool(users)),
                    prefix=prefix,
                )
