"""The schemes with options, each a function from the options to the scheme."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from ..encodings.alphabets import BASE32_HEX_LOWER, BASE62, HEX_LOWER
from ..encodings.text_forms import Digits, Groups, Prefixed, TextForm
from ..generation.leased_generator import Node
from ..layout import ByteFractionTemplate, Layout, SuffixPart
from ..support import checked_epoch, checked_node, exponent, one_of
from ..time_scheme import MILLISECOND, SECOND, TimeScheme
from .rows import COMB4, row

_MOST_WORKERS = 1 << 40
"""The bits of machine and process together, in an xid and an ObjectId."""

# machine 24 | process 16 | counter 24 are random here
_XID = row(
    "xid",
    "xid",
    "https://github.com/rs/xid",
    Digits(BASE32_HEX_LOWER, 20, padding=4),
    time=32,
    suffix=64,
    suffix_parts=(
        SuffixPart("machine", 1 << 24, "worker"),
        SuffixPart("process", 1 << 16, "worker"),
        SuffixPart("counter", 1 << 24, "sequence"),
    ),
    tick_ns=SECOND,
)

# random 40 | counter 24, which is random, too, here
_OBJECTID = row(
    "objectid",
    "ObjectId",
    "MongoDB specifications, bson-objectid",
    Digits(HEX_LOWER, 24, fold="lower"),
    time=32,
    suffix=64,
    suffix_parts=(
        SuffixPart("random", 1 << 40),
        SuffixPart("counter", 1 << 24, "sequence"),
    ),
    tick_ns=SECOND,
)

KSUID = row(
    "ksuid",
    "KSUID",
    "https://github.com/segmentio/ksuid",
    Digits(BASE62, 27),
    time=32,
    suffix=128,
    epoch_ns=1_400_000_000 * SECOND,
    tick_ns=SECOND,
)

# time 32 | fraction 8, steps of 4 ms from 0 to 249 | random 120
KSUID_MS = replace(
    KSUID,
    name="ksuid_ms",
    title="KSUID (4 ms)",
    specification="https://github.com/svix/rust-ksuid",
    layout=Layout(
        ticks=250 << 32, suffixes=1 << 120, template=ByteFractionTemplate(250, suffix_bits=120)
    ),
    tick_ns=4 * MILLISECOND,
)


@lru_cache(typed=True)
def from_epoch(scheme: TimeScheme, epoch_ms: int | None) -> TimeScheme:
    """The scheme with another epoch, Unix time in ms; the scheme itself for None.

    Raises ``ValueError`` for an epoch that is no whole number, or outside of the years 1 to 9999.
    """
    if epoch_ms is None:
        return scheme
    epoch_ns = checked_epoch(epoch_ms) * MILLISECOND
    return scheme if epoch_ns == scheme.epoch_ns else replace(scheme, epoch_ns=epoch_ns)


def with_node(scheme: TimeScheme, node: Node | None) -> TimeScheme:
    """The scheme with the node of new ids, always the same object for the same node; the scheme
    itself for None.

    Raises ``ValueError`` for anything but 48 bits or ``"random"``.
    """
    return scheme if node is None else _with_node(scheme, checked_node(node))


@lru_cache(typed=True)
def _with_node(scheme: TimeScheme, node: Node) -> TimeScheme:
    return replace(scheme, node=node)


@lru_cache(typed=True)
def xid(*, workers: int | None = None, epoch_ms: int | None = None) -> TimeScheme:
    """``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``.

    ``epoch_ms`` is another epoch, Unix time in ms. ``workers`` is a power of two. With 2 ** 40, the
    worker number has the bits of machine and process, and the sequence the bits of the counter. The
    sequence starts at 0 in every second. So a process with a fixed number must not start in the
    second in which its predecessor ended; a leased number rules this out.
    """
    return from_epoch(_with_workers(_XID, workers), epoch_ms)


@lru_cache(typed=True)
def objectid(*, workers: int | None = None, epoch_ms: int | None = None) -> TimeScheme:
    """Like ``xid``: ``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``."""
    return from_epoch(_with_workers(_OBJECTID, workers), epoch_ms)


def _with_workers(scheme: TimeScheme, workers: int | None) -> TimeScheme:
    if exponent(2, _MOST_WORKERS, workers=workers) is None:
        return scheme
    return replace(scheme, layout=replace(scheme.layout, workers=workers))


def ksuid(*, precision: Literal["s", "ms"] = "s", epoch_ms: int | None = None) -> TimeScheme:
    """``time 32 | random 128``, seconds from 2014-05-13T16:53:20Z, or from ``epoch_ms``.

    ``precision="ms"`` uses 8 of the random bits to count units of 4 ms, like svix-ksuid for Rust.
    (svix-ksuid for Python counts 1/256 s in this byte; its values above 249 are invalid here.)
    """
    return from_epoch(one_of({"s": KSUID, "ms": KSUID_MS}, precision=precision), epoch_ms)


@lru_cache(typed=True)
def kuuid(
    *,
    precision: Literal["s", "ms"] = "s",
    reverse: bool = False,
    short: bool = False,
    groups: int | None = None,
    epoch_ms: int | None = None,
    stored_prefix: str = "",
) -> TimeScheme:
    """8 characters of time, then groups of 6 characters with 32 random bits each.

    ``precision`` is the unit of the time. ``groups`` is 1 to 4, by default 4; ``short`` means 2.
    ``reverse`` sorts the newest first: it writes 62 ** 8 - 1 minus the time. ``epoch_ms`` is
    another epoch, Unix time in ms: 1,514,764,800,000 (2018) for ids of kuuid 0.1.
    ``stored_prefix``, such as ``"user:"``, is the beginning of every id.
    """
    tick_ns = one_of({"s": SECOND, "ms": MILLISECOND}, precision=precision)
    if groups not in (None, 1, 2, 3, 4) or (short and groups not in (None, 2)):
        raise ValueError(f"groups={groups!r}, short={short}: expected 1 to 4, and 2 if short")
    count = groups or (2 if short else 4)
    form: TextForm = Groups(BASE62, ((8, 48), *[(6, 32)] * count))
    if stored_prefix:
        form = Prefixed(_checked_prefix(stored_prefix), form)
    scheme = TimeScheme(
        name="kuuid" if precision == "s" else "kuuid_ms",
        title="kuuid",
        specification="https://github.com/glynnbird/kuuid",
        # 62 ** 8 - 1 fits into 48 bits
        bits=48 + 32 * count,
        value_type=str,
        text_forms=(("canonical", form),),
        stored_as_text=True,
        layout=Layout(ticks=62**8, suffixes=1 << 32 * count, descending=reverse),
        tick_ns=tick_ns,
    )
    return from_epoch(scheme, epoch_ms)


def _checked_prefix(prefix: str) -> str:
    if not isinstance(prefix, str) or not re.fullmatch("[A-Za-z0-9._~:-]{1,60}", prefix):
        raise ValueError(f"stored_prefix={prefix!r}: expected 1 to 60 of A-Z, a-z, 0-9 and -._~:")
    return prefix


def comb4(*, layout: Literal["laravel", "pomelo", "efcore"] = "laravel") -> TimeScheme:
    """A row of ``COMB4``: UUIDs of version 4 that contain their time.

    Those of ``"efcore"`` sort in SQL Server only.
    """
    return one_of(COMB4, layout=layout)
