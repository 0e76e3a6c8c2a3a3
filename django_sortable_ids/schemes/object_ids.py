"""The schemes of 96 bits: Unix seconds and 64 more bits, as introduced by ObjectId."""

from dataclasses import replace
from functools import lru_cache

from .encodings.alphabets import BASE32_HEX_LOWER, HEX_LOWER
from .encodings.text_forms import Digits
from .layout import Layout
from .time_scheme import SECOND, TimeScheme

MOST_WORKERS = 1 << 40
"""The bits of machine and process together."""

# time 32 | machine 24 | process 16 | counter 24, all three random here
_XID = TimeScheme(
    name="xid",
    title="xid",
    specification="https://github.com/rs/xid",
    bits=96,
    value_type=str,
    text_forms=(("canonical", Digits(BASE32_HEX_LOWER, 20, padding=4)),),
    layout=Layout(ticks=1 << 32, suffixes=1 << 64),
    tick_ns=SECOND,
)

# time 32 | random 40 | counter 24, which is random, too, here
_OBJECTID = TimeScheme(
    name="objectid",
    title="ObjectId",
    specification="MongoDB specifications, bson-objectid",
    bits=96,
    value_type=str,
    text_forms=(("canonical", Digits(HEX_LOWER, 24, fold="lower")),),
    layout=Layout(ticks=1 << 32, suffixes=1 << 64),
    tick_ns=SECOND,
)


@lru_cache
def xid(*, workers: int | None = None) -> TimeScheme:
    """``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``.

    ``workers`` is a power of two. With 2 ** 40, the worker number has the bits of machine and
    process, and the sequence the bits of the counter. The sequence starts at 0 in every second. So
    a process with a fixed number must not start in the second in which its predecessor ended; a
    leased number rules this out.
    """
    return _with_workers(_XID, workers)


@lru_cache
def objectid(*, workers: int | None = None) -> TimeScheme:
    """Like ``xid``: ``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``."""
    return _with_workers(_OBJECTID, workers)


def _with_workers(scheme: TimeScheme, workers: int | None) -> TimeScheme:
    if workers is None:
        return scheme
    if not 2 <= workers <= MOST_WORKERS or workers & (workers - 1):
        raise ValueError(f"workers={workers}: expected a power of two from 2 to {MOST_WORKERS}")
    return replace(scheme, layout=replace(scheme.layout, workers=workers))
