"""Lexical sequences: short ids that count, in a character set of your choice.

The idea is Michael Lang's ("Sequence ID generation for short high capacity identifiers", Candor).
The arithmetic is bijective numeration: every text, also one with leading "zeros", has exactly one
number and one successor: ``8, 9, 00, 01, ... 99, 000``. The order of the numbers is the shortlex
order of the texts: by length, then by character.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Self

from ..errors import SequenceExhausted
from ..scheme import ID, Scheme
from ..support import ByArguments, cached_property, nearest
from ..text_forms import TextForm

CHARSETS = {
    "numeric": "0123456789",
    "alpha_lower": "abcdefghijklmnopqrstuvwxyz",
    "alpha_upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "alnum_lower": "0123456789abcdefghijklmnopqrstuvwxyz",
    "alnum_upper": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "alpha": "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz",
    "alnum": "0123456789AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz",
}
"""Candor's character sets. ``alpha`` and ``alnum`` are not in ASCII order."""


class Numeration(ByArguments):
    """Bijective numeration over a character set: n = sum of (index + 1) * base ** position."""

    def __init__(self, characters: str, ignore_case: bool = False) -> None:
        """Each character comes once. With ``ignore_case``, both cases of a letter are one digit."""
        super().__init__(characters, ignore_case)
        self.characters = characters
        self.ignore_case = ignore_case
        if len(set(characters)) != len(characters) or len(self.digits("upper")) < 2:
            raise ValueError(
                f"{characters!r} is not a character set: expected 2 or more characters, each once"
            )
        if not re.fullmatch("[A-Za-z0-9._~-]+", characters):
            # RFC 3986, section 2.3: these characters need no escaping in a URL.
            raise ValueError(f"{characters!r}: expected only ASCII letters, digits and -._~")

    def digits(self, case: str) -> str:
        """The digits in order; if case is ignored, with letters in ``case``."""
        if not self.ignore_case:
            return self.characters
        folded = self.characters.upper() if case == "upper" else self.characters.lower()
        return "".join(dict.fromkeys(folded))

    def number(self, text: str) -> int:
        """The number of a text; ``""`` is 0. Raises ``ValueError`` for other characters."""
        digits = self.digits("upper")
        folded = text.upper() if self.ignore_case and text.isascii() else text
        total = 0
        for character in folded:
            index = digits.find(character)
            if index < 0:
                raise ValueError(f"{character!r} is not one of its characters")
            total = total * len(digits) + index + 1
        return total

    def text(self, number: int, case: str = "upper") -> str:
        digits = self.digits(case)
        characters = []
        while number:
            number, index = divmod(number - 1, len(digits))
            characters.append(digits[index])
        return "".join(reversed(characters))

    def add(self, text: str, count: int = 1) -> str:
        """The text ``count`` steps after ``text``.

        If case is ignored, changed characters take the case of most letters of ``text`` (upper case
        for a tie), and the others keep theirs. Raises ``ValueError`` for a negative count or a
        character outside the set.
        """
        if count < 0:
            raise ValueError(f"count={count}: expected 0 or more, a sequence only goes up")
        result = self.text(self.number(text) + count, majority_case(text))
        if not self.ignore_case:
            return result
        old = text.rjust(len(result))
        return "".join(
            was if was.upper() == now.upper() else now for was, now in zip(old, result, strict=True)
        )


def majority_case(text: str) -> str:
    """``"lower"`` if most letters are lower case, else ``"upper"``."""
    lower = sum(map(str.islower, text))
    return "lower" if lower > sum(map(str.isupper, text)) else "upper"


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
        return self._period(day.year, day.month) if self.is_dated else 0

    def _period(self, year: int, month: int) -> int:
        return year * 12 + month - 1 if self._months == 12 else year

    def _names(self, period: int) -> dict[str, str]:
        year, month = divmod(period, self._months)
        return {"year": f"{year:04}", "month": f"{month + 1:02}"}

    def period_name(self, period: int) -> str:
        """The year and the month, such as ``2026-01``; empty for all time."""
        return "-".join(self._names(period)[name] for name in self._dates)

    def filled(self, period: int, number: str) -> str:
        return self.text.format(number=number, **self._names(period))

    def pattern(self, number: str) -> str:
        """A regular expression, for numbers with the pattern ``number``; not anchored."""
        return self.text.format(number=number, **_DIGITS)

    def parts(self, text: str, *, ignore_case: bool) -> tuple[int, str]:
        """The period and the text of the number. Raises ``ValueError`` for any other text."""
        pattern = self.text.format(number="(?P<number>.*)", **_GROUPS)
        flags = re.ASCII | (re.IGNORECASE if ignore_case else 0)
        match = re.fullmatch(pattern, text, flags)
        if match is None:
            raise ValueError(f"it is not {self.text}")
        named: dict[str, Any] = {"year": 0, "month": 1} | match.groupdict()
        return self._period(int(named["year"]), int(named["month"])), named["number"]


PLAIN = Template("{number}")
"""No text around the number."""


class SequenceText(TextForm):
    """The text form of a sequence: bijective digits, with a fixed width or up to a limit."""

    def __init__(self, numeration: Numeration, length: int, fixed: bool, case: str) -> None:
        digits = numeration.digits(case)
        characters = "".join(f"\\{digit}" if not digit.isalnum() else digit for digit in digits)
        shortest = length if fixed else 1
        count = str(length) if fixed else f"1 to {length}"
        folded = ", in any case" if numeration.ignore_case else ""
        super().__init__(
            *(numeration, length, fixed, case),
            length=length,
            shortest=shortest,
            pattern=f"[{characters}]{{{shortest},{length}}}",
            expected=f"{count} characters of {digits}{folded}",
            keeps_order=fixed and list(digits) == sorted(digits),
        )
        self.numeration = numeration
        self.case = case
        self.first = numeration.number(digits[0] * length)
        """The first number of the full length."""
        self.span: int = len(digits) ** length
        """How many numbers of the full length there are."""
        self.stop: int = self.first + self.span
        """The number after the last one."""

    def format(self, number: int) -> str:
        return self.numeration.text(number, self.case)

    def parse(self, text: str) -> int:
        if not self.shortest <= len(text) <= self.length:
            raise ValueError(f"it has {len(text)} characters")
        return self.numeration.number(text)


class TemplateText(TextForm):
    """The text form of a sequence with a template.

    A text stands for the number ``period * span + number - first`` of its digits.
    """

    def __init__(self, template: Template, digits: SequenceText) -> None:
        self.ignore_case = digits.numeration.ignore_case
        case = ", in any case" if self.ignore_case else ""
        super().__init__(
            *(template, digits),
            length=len(template.filled(0, "")) + digits.length,
            pattern=template.pattern(digits.pattern),
            expected=f"{template.text}{case}, whose number has {digits.expected}",
            keeps_order=digits.keeps_order,
        )
        self.template = template
        self.digits = digits

    def format(self, number: int) -> str:
        period, number = divmod(number, self.digits.span)
        return self.template.filled(period, self.digits.format(number + self.digits.first))

    def parse(self, text: str) -> int:
        period, number = self.template.parts(text, ignore_case=self.ignore_case)
        return period * self.digits.span + self.digits.parse(number) - self.digits.first


@dataclass(frozen=True, eq=False, kw_only=True)
class LexicalSequence(Scheme):
    """Ids that count from ``start`` in steps of ``step``, such as order or confirmation numbers.

    A persistent counter supplies the next position (the field keeps one in the database). ``nth``
    turns a position into an id.
    """

    digits: SequenceText
    """The text of a number."""
    start: str
    """The first number, without a template's text."""
    step: int
    template: Template
    """The text around the number. A sequence with a year or a month starts again in each period."""
    period: int
    """The period that ``nth`` counts in."""

    @property
    def takes_times(self) -> bool:
        return self.template.is_dated

    def holds(self, number: int) -> bool:
        if self.has_template:
            return number // self.digits.span in self.template.periods
        has_width = self.digits.shortest == self.digits.length
        return (self.digits.first if has_width else 1) <= number < self.digits.stop

    @property
    def numeration(self) -> Numeration:
        return self.digits.numeration

    @cached_property
    def count(self) -> int:
        """How many ids a period has, including ``start``."""
        return -((self.numeration.number(self.start) - self.digits.stop) // self.step)

    def nth(self, n: int) -> str:
        """The id number ``n`` of the period, counted from 0: ``start`` plus ``n`` steps.

        Raises ``SequenceExhausted`` after the last id of the width.
        """
        number = self.numeration.number(self.start) + n * self.step
        if n < 0 or number >= self.digits.stop:
            raise SequenceExhausted(
                f"the sequence from {self.start!r} in steps of {self.step} has no id number {n} "
                f"of {self.digits.length} characters; widen it"
            )
        return self._text_of(number)

    def _text_of(self, number: int) -> str:
        if self.has_template:
            number += self.period * self.digits.span - self.digits.first
        return self.canonical.format(number)

    def in_period_of(self, day: date) -> Self:
        """The same sequence, but ``nth`` counts in the period of that day."""
        period = self.template.period_of(day)
        return self if period == self.period else replace(self, period=period)

    @property
    def has_template(self) -> bool:
        return self.template != PLAIN

    @cached_property
    def limits(self) -> tuple[str, str]:
        """The least and the greatest id of the period that have the full length."""
        return self._text_of(self.digits.first), self._text_of(self.digits.stop - 1)

    def number_of(self, value: str) -> str | None:
        """The number in an id, without a template's text; None if it is no id of the period.

        Without a template, it may have any length.
        """
        try:
            period, number = self.template.parts(value, ignore_case=self.numeration.ignore_case)
            self.numeration.number(number)
        except ValueError:
            return None
        fits = not self.has_template or len(number) == self.digits.length
        return number if fits and period == self.period else None

    def generate(self, at: datetime | None = None) -> ID:
        """Not possible without a counter: raises ``TypeError``."""
        raise TypeError("a sequence needs a counter that outlives the process: use nth(n)")

    def generate_many(self, n: int, at: datetime | None = None) -> Sequence[ID]:
        """Not possible without a counter: raises ``TypeError``."""
        return [self.generate(at)]

    @cached_property
    def example(self) -> ID:
        first = self.numeration.number(self.start)
        increased = first + len(self.numeration.digits("upper")) * self.step
        return self._text_of(increased if increased < self.digits.stop else first)


def lexical_sequence(
    *,
    charset: str = "alnum_upper",
    ignore_case: bool = False,
    width: int | None = None,
    start: str | None = None,
    step: int = 1,
    max_length: int = 20,
    template: str | None = None,
) -> LexicalSequence:
    """A sequence over a named character set (see ``CHARSETS``) or the given characters.

    ``start`` is the first id, such as ``"0000"``; by default the first character, ``width`` times.
    Without ``width``, ids grow up to ``max_length`` characters. ``template`` is text around the
    number, such as ``"INV-{year}-{number}"`` (see ``Template``), and needs a ``width``. Raises
    ``ValueError`` for arguments that define no sequence.
    """
    if template is not None and not isinstance(template, str):
        raise ValueError(f"template={template!r}: expected text, such as 'INV-{{year}}-{{number}}'")
    around = PLAIN if template is None else Template(template)
    if template is not None and width is None:
        raise ValueError(
            f"template={template!r}: expected a width, too, so that the texts sort like the numbers"
        )
    if charset not in CHARSETS and (hint := nearest(charset, CHARSETS)):
        raise ValueError(f"charset={charset!r}: there is no character set of that name{hint}")
    numeration = Numeration(CHARSETS.get(charset, charset), ignore_case)
    if width is not None and width < 1:
        raise ValueError(f"width={width}: expected 1 or more characters")
    if step < 1:
        raise ValueError(f"step={step}: expected 1 or more, a sequence only goes up")
    letters = start if start and any(map(str.isalpha, start)) else numeration.characters
    case = majority_case(letters)
    if start is None:
        start = numeration.digits(case)[0] * (width or 1)
    numeration.number(start)
    length = max_length if width is None else width
    if not (width or 1) <= len(start) <= length:
        raise ValueError(f"start={start!r} has {len(start)} characters, expected {length}")
    digits = SequenceText(numeration, length, width is not None, case)
    form: TextForm = digits
    bits = digits.stop.bit_length()
    if around != PLAIN:
        form = TemplateText(around, digits)
        bits = (digits.span * around.periods.stop).bit_length()
    return LexicalSequence(
        name="lexical_sequence",
        title="lexical sequence",
        specification="Michael Lang, Candor: LexicalAdd; bijective numeration",
        bits=bits,
        value_type=str,
        text_forms=(("canonical", form),),
        stored_as_text=True,
        digits=digits,
        start=start,
        step=step,
        template=around,
        period=around.period_of(date(2026, 1, 1)),
    )
