"""Texts that begin with the same characters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .text_forms import TextForm


@dataclass(frozen=True, slots=True)
class Prefixed:
    """Another form after characters that are the same in every text, such as ``user:``."""

    prefix: str
    form: TextForm

    @property
    def keeps_order(self) -> bool:
        return self.form.keeps_order

    @property
    def shows_all(self) -> bool:
        return self.form.shows_all

    @property
    def length(self) -> int:
        return len(self.prefix) + self.form.length

    @property
    def shortest(self) -> int:
        return len(self.prefix) + self.form.shortest

    @property
    def pattern(self) -> str:
        return re.escape(self.prefix) + self.form.pattern

    @property
    def expected(self) -> str:
        return f"“{self.prefix}” and {self.form.expected}"

    def format(self, number: int) -> str:
        return self.prefix + self.form.format(number)

    def format_all(self, numbers: Sequence[int]) -> list[str]:
        return [self.prefix + text for text in self.form.format_all(numbers)]

    def parse(self, text: str) -> int:
        if not text.startswith(self.prefix):
            raise ValueError(f"it does not begin with {self.prefix!r}")
        return self.form.parse(text[len(self.prefix) :])

    def is_canonical(self, text: str) -> bool:
        bare = text.removeprefix(self.prefix)
        return len(bare) < len(text) and self.form.is_canonical(bare)
