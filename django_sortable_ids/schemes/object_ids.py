"""The rows of 96 bits: Unix seconds and 64 bits more, as ObjectId has had them first."""

from dataclasses import replace
from functools import lru_cache

from .encodings.alphabets import BASE32_HEX_LOWER, HEX_LOWER
from .encodings.text_forms import Digits
from .layout import Layout
from .time_scheme import SECOND, TimeScheme

MOST_WORKERS = 1 << 40
"""As many as machines and processes have bits."""

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

# time 32 | random 40 | counter 24, which is random, too
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
    """``time 32 | random 64``, or with ``workers`` ``time 32 | worker | sequence``.

    ``workers`` is a power of two; with 2 ** 40 its number has the bits of machine and process, and
    the sequence those of the counter. The sequence counts from 0 in every second, so a process
    with a fixed number must not start in the second in which the one before it ended; with a
    leased one it can't.
    """
    return _with_workers(_XID, workers)


@lru_cache
def objectid(*, workers: int | None = None) -> TimeScheme:
    """As ``xid``: ``time 32 | random 64``, or with ``workers`` ``time 32 | worker | sequence``."""
    return _with_workers(_OBJECTID, workers)


def _with_workers(scheme: TimeScheme, workers: int | None) -> TimeScheme:
    if workers is None:
        return scheme
    if not 2 <= workers <= MOST_WORKERS or workers & (workers - 1):
        raise ValueError(f"workers={workers}: expected a power of two from 2 to {MOST_WORKERS}")
    return replace(scheme, layout=replace(scheme.layout, workers=workers))
