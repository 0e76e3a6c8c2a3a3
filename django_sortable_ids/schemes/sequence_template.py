"""The text around the number of a sequence: ``INV-{year}-{number}``."""

import re
from datetime import date
from functools import lru_cache
from typing import Any

from .encodings.text_forms import TextForm
from .support import ByArguments, cached_property

_PLACEHOLDERS = (["number"], ["year", "number"], ["year", "month", "number"])
_DIGITS = {"year": "[0-9]{4}", "month": "(?:0[1-9]|1[0-2])"}
_EXAMPLE = date(2026, 1, 1)


class Template(ByArguments):
    """Literal characters, ``{number}``, and before it ``{year}``, or ``{year}`` and ``{month}``.

    A period is a year, a month, or all time. It has a number: years are counted from 0, months from
    January of the year 0, and all time is period 0.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        literal = re.sub(r"\{\w+\}", "", text)
        if self._placeholders not in _PLACEHOLDERS:
            raise ValueError(
                f"template={self.text!r}: expected {{number}} once, and before it nothing, "
                f"{{year}}, or {{year}} and {{month}}, such as 'INV-{{year}}-{{number}}'"
            )
        if not re.fullmatch("[A-Za-z0-9_~-]*", literal):
            # RFC 3986, section 2.3: these characters need no escaping in a URL. A full stop ends an
            # id in the URLs of Django REST framework.
            raise ValueError(
                f"template={self.text!r}: expected only ASCII letters, digits and -_~ around the "
                f"placeholders"
            )

    @cached_property
    def _placeholders(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.text)

    @cached_property
    def is_dated(self) -> bool:
        """Whether there is more than one period."""
        return "year" in self._placeholders

    @cached_property
    def _months(self) -> int:
        """How many periods a year has."""
        return 12 if "month" in self._placeholders else 1

    @property
    def periods(self) -> range:
        """The numbers of all periods: those of the years 1 to 9999, or 0."""
        return range(self._months, 10_000 * self._months) if self.is_dated else range(1)

    @property
    def example_period(self) -> int:
        return self.period_of(_EXAMPLE)

    def period_of(self, day: date) -> int:
        """The number of the period of that day."""
        return self._period(day.year, day.month) if self.is_dated else 0

    def _period(self, year: int, month: int) -> int:
        return year * 12 + month - 1 if self._months == 12 else year

    def period_name(self, period: int) -> str:
        """The year and the month, such as ``2026-01``; empty for all time."""
        year, month = divmod(period, self._months)
        names = {"year": f"{year:04}", "month": f"{month + 1:02}"}
        return "-".join(names[each] for each in self._placeholders[:-1])

    def filled(self, period: int, number: str) -> str:
        """The template with a period and the text of a number."""
        year, month = divmod(period, self._months)
        return self.text.format(year=f"{year:04}", month=f"{month + 1:02}", number=number)

    def pattern(self, number: str) -> str:
        """A regular expression, for numbers with the pattern ``number``; not anchored."""
        return self.text.replace(".", r"\.").format(number=number, **_DIGITS)

    def parts(self, text: str, *, ignore_case: bool) -> tuple[int, str]:
        """The period and the text of the number. Raises ``ValueError`` for any other text."""
        found = _pattern(self.text, ignore_case).fullmatch(text)
        if found is None:
            raise ValueError(f"it is not {self.text}")
        named: dict[str, Any] = {"year": 0, "month": 1} | found.groupdict()
        return self._period(int(named["year"]), int(named["month"])), named["number"]


@lru_cache
def _pattern(template: str, ignore_case: bool) -> re.Pattern[str]:
    """What finds the parts of a text, by name."""
    groups = {name: f"(?P<{name}>{digits})" for name, digits in _DIGITS.items()}
    pattern = template.replace(".", r"\.").format(number="(?P<number>.*)", **groups)
    return re.compile(pattern, re.ASCII | (re.IGNORECASE if ignore_case else 0))


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


def checked_template(template: Any, width: int | None) -> Template:
    """The template with that text. Raises ``ValueError`` if a sequence can't have it."""
    if not isinstance(template, str):
        raise ValueError(f"template={template!r}: expected text, such as 'INV-{{year}}-{{number}}'")
    checked = Template(template)
    if width is None:
        raise ValueError(
            f"template={template!r}: expected a width, too, so that the texts sort like the numbers"
        )
    return checked
