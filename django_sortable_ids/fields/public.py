"""The public text of an id: what URLs and REST show and accept.

What each reader accepts, what it gives, and what it does with anything else:

===========================  ===========================  ===================  =================
``PublicText.candidates``    the public text              all of its values    ``InvalidID``
``PublicText.read``          the public or the bare text  all of its values    ``InvalidID``
``PublicText.in_own_type``   values of other types        a value, or a text   ``TypeError``
``field.candidates``         the public text              all of its values    ``ValidationError``
``field.parse_public``       the public text              the one with a row   ``ValidationError``
``field.readings``           every spelling               all of its values    none
``field.to_python``          every spelling               the one with a row   ``ValidationError``
``field.get_prep_value``     every spelling               the one with a row   ``Malformed``
``field.read_for_lookup``    every spelling               a value, candidates  ``Malformed``
``field.canonical``          every spelling               the one with a row   leaves it
``field.shown``              every spelling               its public text      leaves it
===========================  ===========================  ===================  =================

A spelling is a text, public or bare, or a value of any type that ``in_own_type`` takes. For other
types, ``get_prep_value`` and ``read_for_lookup`` raise ``TypeError``.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sized
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any

from django.db.models import Model
from django.utils.functional import LazyObject, Promise

from .. import conf
from ..schemes import ID, InvalidID
from ..schemes.errors import Message, described, shown
from ..schemes.notation import uuid_of
from ..schemes.support import ByArguments
from ..schemes.text_forms import UUIDText
from .storage import storage_names

if TYPE_CHECKING:
    from ..schemes.mask import MaskKey
    from .options import FieldWithOptions

SEPARATORS = ("_", ":")
_SPELLINGS = 64
"""Upper bound of the extra characters in a spelling, such as "urn:uuid:" and braces."""
_YEAR_2000_MS = 946_684_800_000
_DAY_MS = 86_400_000
_MASKED_EXAMPLE = uuid.UUID("7d793037-a076-4186-974b-0282f2f435e7").int


class PublicText:
    """Prefix, separator, and the id in an encoding: ``ord_01KDVDNA00PVDPVDPVDPVDPVDM``.

    Prefixes follow TypeID 0.3: 1 to 63 of ``a-z`` and ``_``, neither first nor last ``_``.
    ``masked`` writes a UUIDv7 as its UUIDv47 facade: a UUIDv4, in the encoding.
    """

    def __init__(self, field: FieldWithOptions) -> None:
        """Takes the options of the field, which were checked."""
        self.scheme = scheme = field.scheme
        self.encoding = scheme.public_encoding if field.encoding is None else field.encoding
        self.masked = masked = field.masked
        self.reads_uuids = field.storage == "uuid" and scheme.value_type is str
        """Whether the text of a UUID is read, too, since the field was a ``UUIDField``."""
        self.full_prefix = "" if field.prefix is None else field.prefix + field.separator
        previous = [earlier and earlier + field.separator for earlier in field.previous_prefixes]
        self.accepted_prefixes = (self.full_prefix, *previous)
        """The prefixes of texts that are read, with separators, the present one first; empty for
        texts without one."""
        self.form = scheme.text_form(self.encoding)
        """How the id after the prefix is written."""
        self._longest = self.form.length + _SPELLINGS
        self.is_ambiguous = masked or (
            self.form is not scheme.canonical and "" in self.accepted_prefixes
        )
        """Whether a text may stand for several ids: for one by each mask key, or for one as bare
        text and for another one as public text."""
        self._shows_values = self.form is scheme.canonical and not masked
        is_bare = self._shows_values and not self.full_prefix
        self._shows_uuids = is_bare and scheme.value_type is uuid.UUID
        """Whether the text of a UUID is its own, of each version."""

    @property
    def pattern(self) -> str:
        """A regular expression, not anchored, that every public text matches."""
        return self.full_prefix + self.form.pattern

    @property
    def example(self) -> str:
        """A valid text; of a masked id by no mask key: nobody may learn what one makes of an id."""
        if self.masked:
            return self.full_prefix + self.form.format(_MASKED_EXAMPLE)
        return self.format(self.scheme.example)

    def format(self, value: ID) -> str:
        """The public text. A stored value that isn't an id stays as it is; no parser accepts it."""
        if self._shows_uuids and type(value) is uuid.UUID:
            return str(value)
        if self._shows_values and self.scheme.is_canonical(value):
            return self.full_prefix + value
        try:
            number = self.scheme.to_int(value)
        except InvalidID:
            if not isinstance(value, self.scheme.value_type):
                raise
            with suppress(InvalidID):
                if not self.is_ambiguous:
                    return self.format(self.read(value)[0])  # a public text that was assigned
            return str(value)
        if self.masked:
            from ..schemes.mask import mask

            number = mask(number, conf.mask_keys()[0])
        return self.full_prefix + self.form.format(number)

    def is_other_uuid(self, value: Any) -> bool:
        """Whether it is a UUID that is no id of the scheme: another version, or a masked text."""
        return isinstance(value, uuid.UUID) and not self.scheme.holds(value.int)

    def candidates(self, text: Any) -> tuple[ID, ...]:
        """Every value that a public text may stand for; ``InvalidID`` if there is none.

        An unmasked text has one value. A masked text has one for each key, since a facade doesn't
        tell which key masked it. Values between the year 2000 and tomorrow come first: a wrong key
        decodes such a time with a probability of 1 in 300. A wrong key decodes the id of an
        existing row only if both the 74 random bits and the 48 time bits match: a probability of
        2^-122 for each row, 2^-92 for a table of a billion. The same holds for a text that was
        masked by a key no longer in the settings.
        """
        if isinstance(text, uuid.UUID) and self.encoding is None:
            text = str(text)  # from the path converter <uuid:pk>
        *earlier, last = self._without_prefix(text)
        for bare in earlier:
            with suppress(InvalidID):
                return self._candidates(bare)
        return self._candidates(last)

    def read(self, text: Any) -> tuple[ID, ...]:
        """Every value that a text may stand for, the bare text or the public one; ``InvalidID`` if
        there is none.

        Both may be digits: "1234567890123" is a number, and a text in base 32. With
        ``reads_uuids``, it may also be the text of a UUID.
        """
        if self.full_prefix and isinstance(text, str) and text.startswith(self.full_prefix):
            start = len(self.full_prefix)
            with suppress(InvalidID):
                return self._candidates(text[start : start + self._longest])
        try:
            bare = self.scheme.parse(text)
        except InvalidID:
            if self.reads_uuids and isinstance(text, str):
                with suppress(ValueError):
                    return (self.scheme.from_int(UUIDText().parse(text)),)
            return self.candidates(text)
        if not self.is_ambiguous or not self.form.shortest <= len(text) <= self.form.length:
            return (bare,)
        try:
            return tuple(dict.fromkeys((bare, *self.candidates(text))))
        except InvalidID:
            return (bare,)

    def in_own_type(self, value: Any) -> ID:
        """A value of another type as text, or in the type of the ids; it may still be malformed.

        That is what Django's field of the type accepts, and an id of another library, whose
        ``str()`` is its text. ``TypeError`` for anything else.
        """
        expected, is_number = self.scheme.value_type, isinstance(value, Integral)
        if isinstance(value, bool):
            pass
        elif isinstance(value, str | expected):
            return value
        elif expected is int and is_number:
            return int(value)
        elif expected is int and isinstance(value, Decimal) and value.is_finite():
            if value.adjusted() < 20 and not value % 1:
                return int(value)
        elif expected is uuid.UUID and isinstance(value, int):
            return value if value >> 128 else uuid_of(value)
        elif isinstance(value, uuid.UUID) and "uuid" in storage_names(self.scheme):
            return self.scheme.canonical.format(value.int)
        elif isinstance(value, int | uuid.UUID):
            return value  # no id, but what <int:pk> and <uuid:pk> find in a URL
        elif not (is_number or isinstance(value, _NEVER_IDS)):
            with suppress(InvalidID):
                text = str(value)
                self.read(text)
                return text
        type_name, name = f"{type(value).__module__}.{type(value).__qualname__}", expected.__name__
        raise TypeError(
            f"expected an id of {self.scheme.title}, as {name}, text or an object whose str() "
            f"is its text; found {type_name.removeprefix('builtins.')}: {described(value)}"
        )

    def _without_prefix(self, text: Any) -> list[str]:
        """The text without each of the prefixes that it begins with: one prefix may be the
        beginning of another."""
        texts = [
            text[len(prefix) : len(prefix) + self._longest]
            for prefix in self.accepted_prefixes
            if isinstance(text, str) and text.startswith(prefix)
        ]
        if not texts:
            expected = self.full_prefix
            raise InvalidID(Message(lambda: f"{described(text)} does not begin with {expected!r}"))
        return texts

    def _candidates(self, bare: str) -> tuple[ID, ...]:
        if not self.masked:
            return (self.scheme.parse(bare, self.encoding),)
        tomorrow = time.time() * 1000 + _DAY_MS
        numbers = sorted(
            dict.fromkeys(self._unmasked(bare, conf.mask_keys())),
            key=lambda uuid7: not _YEAR_2000_MS <= uuid7 >> 80 <= tomorrow,
        )
        return tuple(map(self.scheme.from_trusted, numbers))

    def parse_with(self, text: str, key: MaskKey) -> ID:
        """The value of a text that this key masked; ``InvalidID`` for anything else."""
        bare = self._without_prefix(text)[0]
        return self.scheme.from_trusted(self._unmasked(bare, [key])[0])

    def _unmasked(self, text: str, keys: Iterable[MaskKey]) -> list[int]:
        from ..schemes.mask import unmask

        try:
            facade = self.form.parse(text)
        except ValueError as error:
            raise InvalidID(str(error)) from None
        numbers = [unmask(facade, key) for key in keys]
        valid = [number for number in numbers if number is not None and not facade >> 128]
        if not valid:
            raise InvalidID("it is not a UUID of version 4")
        return valid


def evaluated(value: Any) -> Any:
    """The value of a lazy text or of a ``LazyObject``; any other value as it is."""
    if isinstance(value, LazyObject):
        return value.__reduce__()[1][0]
    return str(value) if isinstance(value, Promise) else value


_NEVER_IDS = (Iterable, Sized, Number, Model)
"""Types whose ``str()`` is never an id, or would be one by accident."""


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


class Candidates(ByArguments):
    """The values that one text may stand for, the likeliest first: always two or more.

    ``exact`` and ``in`` look up all of them, also through relations. Where only one value fits,
    the field takes the one that exists in the table. Used in lookups only.
    """

    def __init__(self, values: tuple[ID, ...]) -> None:
        super().__init__(values)
        self.values = values

    def __repr__(self) -> str:
        return "<one of several ids>"
