"""The public text of an id: what URLs and REST show and take."""

import re
from dataclasses import dataclass

from ..schemes import ID, InvalidID, Scheme

_PREFIX = re.compile("[a-z](?:[a-z_]{0,61}[a-z])?")
SEPARATORS = ("_", ":")


@dataclass(frozen=True, slots=True)
class PublicText:
    """Prefix, separator, and the id in an encoding: ``ord_01KDVDNA00PVDPVDPVDPVDPVDM``.

    Prefixes follow TypeID 0.3: 1 to 63 of ``a-z`` and ``_``, neither first nor last ``_``.
    """

    scheme: Scheme
    prefix: str | None
    separator: str
    encoding: str | None

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
        return self.lead + self.scheme.format(value, self.encoding)

    def parse(self, text: str) -> ID:
        """The value of a public text, and of nothing else: ``InvalidID``."""
        if not isinstance(text, str) or not text.startswith(self.lead):
            raise InvalidID(f"{text!r} does not begin with {self.lead!r}")
        return self.scheme.parse(text[len(self.lead) :], self.encoding)
