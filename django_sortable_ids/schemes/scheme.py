"""The base class of all schemes: values, numbers, bytes and text."""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Self, TypeGuard, TypeVar

from .errors import InvalidID, Message, NotTimeOrdered, described
from .notation import uuid_of, uuids_of
from .support import ByFields, cached_property, nearest
from .text_forms import TextForm

ID = uuid.UUID | str | int
"""The Python value of an id; each scheme uses one of the three types."""


class Converted(NamedTuple):
    value: ID
    lossless: bool
    """True: every bit is preserved. False: the same time, to the tick, with new random bits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Scheme(ByFields, ABC):
    """An id format: an entry of the catalogue.

    An id is a number of ``bits`` bits. Its Python value is a ``uuid.UUID``, an ``int`` or the
    canonical text. Values sort like the numbers, except the texts of a sequence without a width.
    """

    name: str
    """The key in the catalogue."""
    title: str
    """The common name, for messages."""
    specification: str
    """Where the format is defined."""
    bits: int
    value_type: type[uuid.UUID] | type[str] | type[int]
    text_forms: tuple[tuple[str, TextForm], ...]
    """Encodings by name, the canonical one first."""
    public_encoding: str | None = None
    """The encoding of public texts, unless a field has another; None: the canonical one."""
    stored_as_text: bool = False
    """These ids are meant as text, so a database stores the text and not the bytes."""

    @property
    def takes_times(self) -> bool:
        """Whether new ids depend on a time, by which a sequence may count, too."""
        return True

    @property
    def is_uuid7(self) -> bool:
        """Whether ids are the UUIDs of version 7 that RFC 9562 defines: Unix time in ms."""
        return False

    def __deepcopy__(self, memo: object) -> Self:
        """The scheme itself: it is immutable, and a copy would be a second id generator."""
        return self

    # Text

    @cached_property
    def canonical(self) -> TextForm:
        return self.text_forms[0][1]

    @property
    def encodings(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.text_forms)

    def text_form(self, encoding: str | None = None) -> TextForm:
        """The text form with this name; the canonical one for None.

        Raises ``LookupError`` if the scheme has no such form.
        """
        if encoding is None:
            return self.canonical
        for name, form in self.text_forms:
            if name == encoding:
                return form
        raise LookupError(next(self.encoding_problems(encoding)))

    def encoding_problems(self, encoding: object) -> Iterator[str]:
        if encoding not in (None, *self.encodings):
            known = f"it has {', '.join(self.encodings)}{nearest(str(encoding), self.encodings)}"
            if len(self.encodings) == 1:
                known = "its ids are written in one way: leave out encoding="
            yield f"{self.title} has no encoding {encoding!r}; {known}"

    def parse(self, text: str, encoding: str | None = None) -> ID:
        """The value that ``text`` spells.

        ``encoding`` is that of the text, None for the canonical one. Raises ``InvalidID`` for a
        text that is no id in it.
        """
        if encoding is None and self.is_canonical(text):
            return text
        return self.from_trusted(self._number_of(text, self.text_form(encoding)))

    def format(self, value: ID, encoding: str | None = None) -> str:
        """The text of a value, safe in URLs; ``encoding`` selects another form than the canonical.

        Raises ``InvalidID`` if the value is not an id of this scheme.
        """
        if encoding is None and self.is_canonical(value):
            return value
        return self.text_form(encoding).format(self.to_int(value))

    def is_canonical(self, value: object) -> TypeGuard[str]:
        """Whether this is a value in canonical text. Cheap check; False means unknown."""
        return False

    # Numbers and bytes

    @abstractmethod
    def holds(self, number: int) -> bool:
        """Whether the number is an id of this scheme; checks its size and its fixed bits."""

    def from_int(self, number: int) -> ID:
        """The value with this number; ``InvalidID`` if the scheme has none."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise self._refusal(number, "it is not a whole number", self.canonical)
        if not self.holds(number):
            raise self._refusal(number, self._misfit(number), self.canonical)
        return self.from_trusted(number)

    def to_int(self, value: ID) -> int:
        """The number of a value; ``InvalidID`` for a wrong type or wrong bits."""
        if not isinstance(value, self.value_type) or isinstance(value, bool):
            expected, found = self.value_type.__name__, type(value).__name__
            reason = f"expected the type {expected}, found {found}"
            raise self._refusal(value, reason, self.canonical)
        if isinstance(value, str):
            return self._number_of(value, self.canonical)
        number = value.int if isinstance(value, uuid.UUID) else value
        if not self.holds(number):
            raise self._refusal(value, self._misfit(number), self.canonical)
        return number

    @property
    def byte_length(self) -> int:
        return -(-self.bits // 8)

    def from_bytes(self, data: bytes | bytearray | memoryview) -> ID:
        """The value of ``byte_length`` big-endian bytes; ``InvalidID`` if the scheme has none."""
        if not isinstance(data, bytes | bytearray | memoryview) or len(data) != self.byte_length:
            found = len(data) if isinstance(data, Sized) else type(data).__name__
            raise InvalidID(
                f"{self.title} has {self.byte_length} bytes, found {found}: {described(data)}"
            )
        return self.from_int(int.from_bytes(data, "big"))

    def to_bytes(self, value: ID) -> bytes:
        """``byte_length`` big-endian bytes, which sort like the numbers."""
        return self.to_int(value).to_bytes(self.byte_length, "big")

    @cached_property
    def from_trusted(self) -> Callable[[int], ID]:
        """A function from a number of ``bits`` bits to its value. It does not check the bits."""
        if self.value_type is uuid.UUID:
            return uuid_of
        return int if self.value_type is int else self.canonical.format

    @cached_property
    def all_from_trusted(self) -> Callable[[Sequence[int]], Sequence[ID]]:
        if self.value_type is uuid.UUID:
            return uuids_of
        return list if self.value_type is int else self.canonical.format_all

    def _number_of(self, text: str, form: TextForm) -> int:
        if not isinstance(text, str):
            raise self._refusal(text, "it is not text", form)
        try:
            number = form.parse(text)
        except ValueError as error:
            raise self._refusal(text, error, form) from None
        if not self.holds(number):
            raise self._refusal(text, self._misfit(number), form)
        return number

    def _misfit(self, number: int) -> str:
        """Why ``holds`` is False."""
        return "it is out of the scheme's range"

    # Generation

    @abstractmethod
    def generate(self, at: datetime | None = None) -> ID:
        """A new value."""

    @abstractmethod
    def generate_many(self, n: int, at: datetime | None = None) -> Sequence[ID]:
        """``n`` new values, each later in the order than the one before."""

    # Time

    def created_at(self, value: ID) -> datetime:
        """The creation time of an id: aware, UTC, floored to the tick and to the microsecond.

        Raises ``OutOfRange`` for a valid id of a year after 9999, ``InvalidID`` if the value is not
        an id of this scheme, ``NotTimeOrdered`` if the scheme has no time.
        """
        raise NotTimeOrdered(f"{self.title} carries no creation time")

    def lower_bound(self, at: datetime) -> ID:
        """The first value, in the order, of the time ``at``; ``NotTimeOrdered`` without a time."""
        raise NotTimeOrdered(f"{self.title} carries no creation time")

    def can_hold(self, at: datetime) -> bool:
        """Whether ids of the time ``at`` exist."""
        raise NotTimeOrdered(f"{self.title} carries no creation time")

    def convert(self, value: ID, to: "Scheme") -> Converted:
        """The id in another scheme; ``NotTimeOrdered`` if one of the two has no time."""
        raise NotTimeOrdered(
            f"{self.title} carries no creation time, so its ids can't be converted"
        )

    # Messages

    @property
    @abstractmethod
    def example(self) -> ID:
        """A sample value for messages, always the same."""

    def _refusal(self, value: object, reason: object, form: TextForm) -> InvalidID:
        """The error for a value; ``reason`` is written as text when the error is."""
        return InvalidID(Message(self._explained, value, reason, form))

    def _explained(self, value: object, reason: object, form: TextForm) -> str:
        example = form.format(self.to_int(self.example))
        return (
            f"{described(value)} is not a valid {self.title}: {reason}. "
            f"Expected {form.expected}, such as {example}."
        )


S = TypeVar("S", bound=Scheme)
_SHARED: dict[Scheme, Any] = {}


def shared(scheme: S) -> S:
    """The equal scheme that any thread has built first: it generates the ids of them all."""
    first: S = _SHARED.setdefault(scheme, scheme)
    return first
