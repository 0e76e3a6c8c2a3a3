"""The text around the number of a sequence: ``INV-{year}-{number}``."""

import re
from datetime import date
from typing import Any

from .encodings.text_forms import TextForm
from .support import ByArguments

_PLACEHOLDERS = (["number"], ["year", "number"], ["year", "month", "number"])
_DIGITS = {"year": "[0-9]{4}", "month": "(?:0[1-9]|1[0-2])"}
_GROUPS = {name: f"(?P<{name}>{digits})" for name, digits in _DIGITS.items()}


class Template(ByArguments):
    """Literal characters, ``{number}``, and before it ``{year}``, or ``{year}`` and ``{month}``.

    A period is a year, a month, or all time. It has a number: years are counted from 0, months from
    January of the year 0, and all time is period 0.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        names = re.findall(r"\{(\w+)\}", text)
        if names not in _PLACEHOLDERS:
            raise ValueError(
                f"template={self.text!r}: expected {{number}} once, and before it nothing, "
                f"{{year}}, or {{year}} and {{month}}, such as 'INV-{{year}}-{{number}}'"
            )
        if not re.fullmatch("[A-Za-z0-9_~-]*", re.sub(r"\{\w+\}", "", text)):
            # RFC 3986, section 2.3: these characters need no escaping in a URL. A full stop ends an
            # id in the URLs of Django REST framework.
            raise ValueError(
                f"template={self.text!r}: expected only ASCII letters, digits and -_~ around the "
                f"placeholders"
            )
        self._dates = names[:-1]
        self._months = 12 if "month" in names else 1
        """How many periods a year has."""
        self.is_dated = "year" in names
        """Whether there is more than one period."""
        self.periods = range(self._months, 10_000 * self._months) if self.is_dated else range(1)
        """The numbers of all periods: those of the years 1 to 9999, or 0."""

    def period_of(self, day: date) -> int:
        """The number of the period of that day."""
        return self._period(day.year, day.month) if self.is_dated else 0

    def _period(self, year: int, month: int) -> int:
        return year * 12 + month - 1 if self._months == 12 else year

    def _names(self, period: int) -> dict[str, str]:
        year, month = divmod(period, self._months)
        return {"year": f"{year:04}", "month": f"{month + 1:02}"}

    def period_name(self, period: int) -> str:
        """The year and the month, such as ``2026-01``; empty for all time."""
        return "-".join(self._names(period)[each] for each in self._dates)

    def filled(self, period: int, number: str) -> str:
        """The template with a period and the text of a number."""
        return self.text.format(number=number, **self._names(period))

    def pattern(self, number: str) -> str:
        """A regular expression, for numbers with the pattern ``number``; not anchored."""
        return self.text.format(number=number, **_DIGITS)

    def parts(self, text: str, *, ignore_case: bool) -> tuple[int, str]:
        """The period and the text of the number. Raises ``ValueError`` for any other text."""
        pattern = self.text.format(number="(?P<number>.*)", **_GROUPS)
        flags = re.ASCII | (re.IGNORECASE if ignore_case else 0)
        found = re.fullmatch(pattern, text, flags)
        if found is None:
            raise ValueError(f"it is not {self.text}")
        named: dict[str, Any] = {"year": 0, "month": 1} | found.groupdict()
        return self._period(int(named["year"]), int(named["month"])), named["number"]


PLAIN = Template("{number}")
"""No text around the number."""


class TemplateText(TextForm):
    """The text form of a sequence with a template.

    A text stands for the number ``period * span + number - first``.
    """

    def __init__(
        self, template: Template, number: TextForm, first: int, span: int, ignore_case: bool
    ) -> None:
        """``first`` is the least number of the sequence, ``span`` how many it has."""
        case = ", in any case" if ignore_case else ""
        super().__init__(
            *(template, number, first, span, ignore_case),
            length=len(template.filled(0, "")) + number.length,
            pattern=template.pattern(number.pattern),
            expected=f"{template.text}{case}, whose number has {number.expected}",
            keeps_order=number.keeps_order,
        )
        self.template = template
        self.number = number
        self.first = first
        self.span = span
        self.ignore_case = ignore_case

    def format(self, number: int) -> str:
        period, number = divmod(number, self.span)
        return self.template.filled(period, self.number.format(number + self.first))

    def parse(self, text: str) -> int:
        period, number = self.template.parts(text, ignore_case=self.ignore_case)
        return period * self.span + self.number.parse(number) - self.first
