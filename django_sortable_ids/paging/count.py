"""A number of rows that says how exact it is."""

from typing import Any, Literal, Self

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import pgettext

Precision = Literal["exact", "estimated", "minimum"]


class Count(int):
    """How many rows there are: an ``int`` that knows its ``precision``.

    ``"exact"`` is the number of rows. ``"estimated"`` is what the database expects, from its
    statistics. ``"minimum"`` means that there are as many or more.

    As text in the current language it is "about 5,000,000" or "more than 10,000", unless it is
    exact. With ``USE_THOUSAND_SEPARATOR``, for which Django inserts separators into the text of
    every number, only ``text`` says so.
    """

    precision: Precision

    def __new__(cls, number: int, precision: Precision = "exact") -> Self:
        self = super().__new__(cls, number)
        self.precision = precision
        return self

    def __getnewargs__(self) -> Any:
        return int(self), self.precision

    @property
    def is_exact(self) -> bool:
        return self.precision == "exact"

    @property
    def text(self) -> str:
        """The number with what is known of it, such as "about 5,000,000". Estimates are rounded to
        two digits."""
        if self.precision == "estimated":
            return pgettext("sortable ids", "about %(count)s") % {
                "count": _grouped(_rounded(int(self)))
            }
        if self.precision == "minimum":
            return pgettext("sortable ids", "more than %(count)s") % {
                "count": _grouped(int(self) - 1)
            }
        return number_format(int(self))

    def __str__(self) -> str:
        return int.__repr__(self) if settings.USE_THOUSAND_SEPARATOR else self.text


def _rounded(number: int) -> int:
    return round(number, 2 - len(str(number)))


def _grouped(number: int) -> str:
    return number_format(number, force_grouping=True)
