"""The public text of an id: what URLs and REST show and take."""

import re
import time
from dataclasses import dataclass

from .. import conf
from ..schemes import ID, InvalidID, Scheme
from ..schemes.mask import mask, unmask

_PREFIX = re.compile("[a-z](?:[a-z_]{0,61}[a-z])?")
SEPARATORS = ("_", ":")
_YEAR_2000_MS = 946_684_800_000
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class PublicText:
    """Prefix, separator, and the id in an encoding: ``ord_01KDVDNA00PVDPVDPVDPVDPVDM``.

    Prefixes follow TypeID 0.3: 1 to 63 of ``a-z`` and ``_``, neither first nor last ``_``.
    ``masked`` writes a UUIDv7 as its UUIDv47 facade, a UUIDv4 in the encoding.
    """

    scheme: Scheme
    prefix: str | None
    separator: str
    encoding: str | None
    masked: bool = False

    def __post_init__(self) -> None:
        self.scheme.text_form(self.encoding)
        if self.prefix is not None and not _PREFIX.fullmatch(self.prefix):
            raise ValueError(
                f"prefix={self.prefix!r}: expected 1 to 63 of a-z and _, beginning and ending "
                f"with a letter, such as 'ord'"
            )
        if self.separator not in SEPARATORS:
            raise ValueError(f"separator={self.separator!r}: expected '_' or ':'")

    @property
    def lead(self) -> str:
        return "" if self.prefix is None else self.prefix + self.separator

    @property
    def pattern(self) -> str:
        """A regular expression, not anchored, that every public text matches."""
        return self.lead + self.scheme.text_form(self.encoding).pattern

    @property
    def expected(self) -> str:
        """What a right text is, in words, with an example."""
        form = self.scheme.text_form(self.encoding)
        lead = f"“{self.lead}” and " if self.lead else ""
        return f"{lead}{form.expected}, such as {self.format(self.scheme.example)}"

    def format(self, value: ID) -> str:
        number = self.scheme.to_int(value)
        if self.masked:
            number = mask(number, conf.mask_keys()[0])
        return self.lead + self.scheme.text_form(self.encoding).format(number)

    def parse(self, text: str) -> ID:
        """The value of a public text, and of nothing else: ``InvalidID``.

        Where several keys mask, the likeliest of its ``readings``.
        """
        return self.readings(text)[0]

    def readings(self, text: str) -> tuple[ID, ...]:
        """Every value that a public text may stand for; ``InvalidID`` where there is none.

        There is one, or, masked, one for each key, since a facade doesn't tell by which it was
        made. Those made between the year 2000 and tomorrow come first.
        """
        if not isinstance(text, str) or not text.startswith(self.lead):
            raise InvalidID(f"{text!r} does not begin with {self.lead!r}")
        bare = text[len(self.lead) :]
        if not self.masked:
            return (self.scheme.parse(bare, self.encoding),)
        values = map(self.scheme.from_trusted, sorted(self._unmasked(bare), key=_is_unlikely))
        return tuple(values)

    def _unmasked(self, text: str) -> list[int]:
        try:
            facade = self.scheme.text_form(self.encoding).parse(text)
        except ValueError as error:
            raise InvalidID(str(error)) from None
        numbers = [unmask(facade, key) for key in conf.mask_keys()]
        found = [number for number in numbers if number is not None and not facade >> 128]
        if not found:
            raise InvalidID("it is no UUID of version 4")
        return found


def _is_unlikely(uuid7: int) -> bool:
    return not _YEAR_2000_MS <= uuid7 >> 80 <= time.time() * 1000 + _DAY_MS
