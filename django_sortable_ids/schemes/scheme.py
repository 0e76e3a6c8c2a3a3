"""The base of every scheme: values, numbers, bytes and text."""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, NamedTuple, Self, TypeGuard

from .encodings.notation import uuid_of, uuids_of
from .encodings.text_forms import TextForm
from .errors import InvalidID, NotTimeOrdered, described
from .support import CopiedByFields, cached_property

ID = uuid.UUID | str | int
"""The Python value of an id; each scheme has one of the three types."""


class Converted(NamedTuple):
    """What ``Scheme.convert`` gives."""

    value: ID
    lossless: bool
    """True: every bit came along. False: the same time, to the tick, with fresh randomness."""


@dataclass(frozen=True, kw_only=True)
class Scheme(CopiedByFields, ABC):
    """One way to write ids: a row of the catalogue.

    An id is a number of ``bits`` bits; its Python value is a ``uuid.UUID``, an ``int``, or the
    canonical text. All of them sort as the number does, but the text of a sequence that grows.
    """

    name: str
    """The key in the catalogue."""
    title: str
    """The name that people use, for messages."""
    specification: str
    """Where the format is defined."""
    bits: int
    value_type: type[uuid.UUID] | type[str] | type[int]
    text_forms: tuple[tuple[str, TextForm], ...]
    """Encodings by name, the canonical one first."""
    stored_as_text: bool = False
    """Text is what these ids are for, so a database keeps the text and not the bytes."""

    time_ordered: ClassVar[bool]
    """Whether ids carry their creation time and sort by it."""

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: it doesn't change, and a copy would make ids beside it."""
        return self

    # Text

    @property
    def canonical(self) -> TextForm:
        return self.text_forms[0][1]

    @property
    def encodings(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.text_forms)

    def text_form(self, encoding: str | None = None) -> TextForm:
        """The text form with that name, the canonical one for None.

        Raises ``LookupError`` where the scheme has none of that name.
        """
        if encoding is None:
            return self.canonical
        for name, form in self.text_forms:
            if name == encoding:
                return form
        raise LookupError(
            f"{self.title} has no encoding {encoding!r}; it has {', '.join(self.encodings)}"
        )

    def parse(self, text: str, encoding: str | None = None) -> ID:
        """The value that ``text`` spells.

        Strict: what ``text_form(encoding)`` does not document raises ``InvalidID``.
        """
        if encoding is None and self.is_canonical(text):
            return text
        return self.from_trusted(self._read(text, self.text_form(encoding)))

    def format(self, value: ID, encoding: str | None = None) -> str:
        """The text of a value, safe in URLs; ``encoding`` names a form other than the canonical.

        Raises ``InvalidID`` where the value isn't one of this scheme.
        """
        if encoding is None and self.is_canonical(value):
            return value
        return self.text_form(encoding).format(self.to_int(value))

    def is_canonical(self, value: object) -> TypeGuard[str]:
        """Whether it is seen at once that this is the value itself, a canonical text.

        False doesn't say that it isn't.
        """
        return False

    # Numbers and bytes

    @abstractmethod
    def holds(self, number: int) -> bool:
        """Whether the number is an id of this scheme: its size and its fixed bits."""

    def from_int(self, number: int) -> ID:
        """The value with that number; ``InvalidID`` where there is none."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidID(self._refusal(number, "it is no whole number", self.canonical))
        if not self.holds(number):
            raise InvalidID(self._refusal(number, self._misfit(number), self.canonical))
        return self.from_trusted(number)

    def to_int(self, value: ID) -> int:
        """The number of a value; ``InvalidID`` for a wrong type or wrong bits."""
        if not isinstance(value, self.value_type) or isinstance(value, bool):
            expected, found = self.value_type.__name__, type(value).__name__
            reason = f"expected the type {expected}, found {found}"
            raise InvalidID(self._refusal(value, reason, self.canonical))
        if isinstance(value, str):
            return self._read(value, self.canonical)
        number = value.int if isinstance(value, uuid.UUID) else value
        if not self.holds(number):
            raise InvalidID(self._refusal(value, self._misfit(number), self.canonical))
        return number

    @property
    def byte_length(self) -> int:
        return -(-self.bits // 8)

    def from_bytes(self, data: bytes | bytearray | memoryview) -> ID:
        """The value of ``byte_length`` big-endian bytes; ``InvalidID`` where there is none."""
        if not isinstance(data, bytes | bytearray | memoryview) or len(data) != self.byte_length:
            found = len(data) if isinstance(data, Sized) else type(data).__name__
            raise InvalidID(
                f"{self.title} has {self.byte_length} bytes, found {found}: {described(data)}"
            )
        return self.from_int(int.from_bytes(data, "big"))

    def to_bytes(self, value: ID) -> bytes:
        """``byte_length`` big-endian bytes, which sort as the numbers do."""
        return self.to_int(value).to_bytes(self.byte_length, "big")

    @cached_property
    def from_trusted(self) -> Callable[[int], ID]:
        """Gives the value of a number of ``bits`` bits, without a look at what they hold."""
        if self.value_type is uuid.UUID:
            return uuid_of
        return int if self.value_type is int else self.canonical.format

    def all_from_trusted(self, numbers: Sequence[int]) -> Sequence[ID]:
        """``from_trusted`` for many numbers."""
        if self.value_type is uuid.UUID:
            return uuids_of(numbers)
        return numbers if self.value_type is int else self.canonical.format_all(numbers)

    def _read(self, text: str, form: TextForm) -> int:
        if not isinstance(text, str):
            raise InvalidID(self._refusal(text, "it is not text", form))
        try:
            number = form.parse(text)
        except ValueError as error:
            raise InvalidID(self._refusal(text, str(error), form)) from None
        if not self.holds(number):
            raise InvalidID(self._refusal(text, self._misfit(number), form))
        return number

    def _misfit(self, number: int) -> str:
        """Why ``holds`` says no."""
        return "it is out of the scheme's range"

    # Generation

    @abstractmethod
    def generate(self, at: datetime | None = None) -> ID:
        """A new value."""

    @abstractmethod
    def generate_many(self, n: int, at: datetime | None = None) -> Sequence[ID]:
        """``n`` new values, strictly increasing."""

    # Time

    def created_at(self, value: ID) -> datetime:
        """When the id was made: aware, UTC, floored to the tick and to the microsecond.

        Raises ``OutOfRange`` for a legal id whose year is past 9999, ``InvalidID`` for what is no
        id of this scheme, ``NotTimeOrdered`` for a scheme without time.
        """
        raise NotTimeOrdered(f"{self.title} carries no creation time")

    def lower_bound(self, at: datetime) -> ID:
        """The least value made at or after ``at``; ``NotTimeOrdered`` without time."""
        raise NotTimeOrdered(f"{self.title} carries no creation time")

    def can_hold(self, at: datetime) -> bool:
        """Whether ids of ``at`` exist."""
        raise NotTimeOrdered(f"{self.title} carries no creation time")

    def convert(self, value: ID, to: "Scheme") -> Converted:
        """The id in another scheme; ``NotTimeOrdered`` where one of the two has no time."""
        raise NotTimeOrdered(f"{self.title} carries no creation time to bring along")

    # Messages

    @property
    @abstractmethod
    def example(self) -> ID:
        """A value to show to people, always the same one."""

    def expectation(self, encoding: str | None = None) -> str:
        """What a right text looks like, in words, with an example."""
        form = self.text_form(encoding)
        return f"{form.expected}, such as {form.format(self.to_int(self.example))}"

    def _refusal(self, found: object, reason: str, form: TextForm) -> str:
        example = form.format(self.to_int(self.example))
        return (
            f"{described(found)} is not a valid {self.title}: {reason}. "
            f"Expected {form.expected}, such as {example}."
        )
