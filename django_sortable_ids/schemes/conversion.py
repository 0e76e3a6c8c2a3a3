"""Which schemes convert to each other without loss, and which scheme a UUID has."""

import uuid

from .bit_templates import PLAIN, UUIDTemplate
from .catalog.registry import all_schemes
from .scheme import Scheme
from .time_scheme import TimeScheme

_RANDOM = 4
"""The UUID version that says nothing about a time, though some of its UUIDs contain one."""

UUID_SCHEMES = {
    scheme.layout.template.version: scheme
    for scheme in all_schemes()
    if isinstance(scheme, TimeScheme) and scheme.layout.template.version not in (None, _RANDOM)
}
"""The schemes of UUIDs whose version says that they carry a time, by version."""

_BITS_BEFORE_VERSION = 48


def is_lossless(source: Scheme, to: Scheme) -> bool:
    """Whether ``source.convert(value, to)`` is lossless for every id of ``source``.

    Different ids then stay different. With other pairs, single ids may still convert without loss,
    such as a ULID that happens to have the fixed bits of a UUIDv7.
    """
    if not isinstance(source, TimeScheme) or not isinstance(to, TimeScheme):
        return False
    if (source.epoch_ns, source.tick_ns) != (to.epoch_ns, to.tick_ns):
        return False
    ours, theirs = source.layout, to.layout
    if (ours.ticks, ours.suffixes) == (theirs.ticks, theirs.suffixes):
        return ours.smallest >= theirs.smallest and ours.last <= theirs.last
    return (
        isinstance(ours.template, UUIDTemplate)
        and not ours.descending
        and ours.ticks <= 1 << _BITS_BEFORE_VERSION
        and theirs.template is PLAIN
        and not theirs.descending
        and source.bits == to.bits
        and (theirs.ticks, theirs.ticks * theirs.suffixes) == (ours.ticks, 1 << to.bits)
        and (theirs.smallest, theirs.last) == (0, (1 << to.bits) - 1)
    )


def scheme_of_uuid(value: uuid.UUID) -> TimeScheme | None:
    """The scheme of a UUID; None for versions without a time, such as 4."""
    return UUID_SCHEMES.get(value.version) if value.version else None
