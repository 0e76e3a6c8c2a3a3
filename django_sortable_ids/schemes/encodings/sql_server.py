"""UUIDs as SQL Server shows them."""

import uuid
from dataclasses import dataclass
from typing import ClassVar

from ..bit_templates import TimeLowFirstTemplate, UUIDTemplate
from .text_forms import OneByOne, UUIDText


@dataclass(frozen=True, slots=True)
class SQLServerText(OneByOne):
    """A UUID of ``version`` as the version 1 UUID that SQL Server shows for the same time.

    ``NEWSEQUENTIALID()`` generates a version 1 UUID and shows the bytes of its first three groups
    in reverse. Its ``uniqueidentifier`` sorts by node, then by time.
    """

    version: int
    shows_all: ClassVar[bool] = False
    keeps_order: bool = False
    length: int = 36

    @property
    def pattern(self) -> str:
        return UUIDText().pattern

    @property
    def expected(self) -> str:
        return "a version 1 UUID with the bytes of its first three groups reversed"

    def format(self, number: int) -> str:
        payload = UUIDTemplate(self.version).unwrap(number)
        assert payload is not None, "the scheme formats only its own ids"
        version_1 = TimeLowFirstTemplate().wrap(payload)
        return str(uuid.UUID(bytes_le=version_1.to_bytes(16, "big")))

    def parse(self, text: str) -> int:
        shown = UUIDText().parse(text)
        version_1 = uuid.UUID(int=shown).bytes_le
        payload = TimeLowFirstTemplate().unwrap(int.from_bytes(version_1, "big"))
        if payload is None:
            raise ValueError("it is not a version 1 UUID in SQL Server's byte order")
        return UUIDTemplate(self.version).wrap(payload)
