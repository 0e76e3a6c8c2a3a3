"""The schemes of sortable ids: the core, which needs only the standard library.

``register()`` adds a scheme of your own. Its parts are a ``Layout``, text forms (``Digits``,
``Decimal``, ``Base64URL``, ``UUIDText``) over one of the ``alphabets``, and for UUIDs a
``UUIDTemplate``; ``TimeScheme`` joins them. ``Integer`` does it for integers of up to 63 bits.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import alphabets
from .catalog import all_schemes, get, is_lossless, register
from .errors import (
    ClockRollback,
    InvalidID,
    LeaseLost,
    LeaseUnavailable,
    NotTimeOrdered,
    OutOfRange,
    SequenceExhausted,
)
from .layout import Layout, SuffixPart, UUIDTemplate
from .scheme import ID, Converted, Scheme
from .text_forms import Base64URL, Decimal, Digits, UUIDText
from .time_scheme import MILLISECOND, SECOND, TimeScheme

if TYPE_CHECKING:
    from .catalog.integers import Integer
    from .catalog.sequence import LexicalSequence, Numeration

_LATER = {"Integer": "integers", "LexicalSequence": "sequence", "Numeration": "sequence"}
"""What most projects don't use, and its module in ``catalog``: imported when it is read."""

__all__ = [
    "ID",
    "MILLISECOND",
    "SECOND",
    "Base64URL",
    "ClockRollback",
    "Converted",
    "Decimal",
    "Digits",
    "Integer",
    "InvalidID",
    "Layout",
    "LeaseLost",
    "LeaseUnavailable",
    "LexicalSequence",
    "NotTimeOrdered",
    "Numeration",
    "OutOfRange",
    "Scheme",
    "SequenceExhausted",
    "SuffixPart",
    "TimeScheme",
    "UUIDTemplate",
    "UUIDText",
    "all_schemes",
    "alphabets",
    "get",
    "is_lossless",
    "register",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".catalog.{_LATER[name]}", __name__), name)
