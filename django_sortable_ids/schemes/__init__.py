"""The schemes of sortable ids: the core, which needs only the standard library."""

from .catalog import all_schemes, get
from .conversion import is_lossless
from .errors import (
    ClockRollback,
    InvalidID,
    LeaseLost,
    LeaseUnavailable,
    NotTimeOrdered,
    OutOfRange,
    SequenceExhausted,
)
from .scheme import ID, Converted, Scheme
from .sequence import LexicalSequence
from .time_scheme import TimeScheme

__all__ = [
    "ID",
    "ClockRollback",
    "Converted",
    "InvalidID",
    "LeaseLost",
    "LeaseUnavailable",
    "LexicalSequence",
    "NotTimeOrdered",
    "OutOfRange",
    "Scheme",
    "SequenceExhausted",
    "TimeScheme",
    "all_schemes",
    "get",
    "is_lossless",
]
