"""The catalogue: every scheme of this package by name, and those that users register."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from inspect import unwrap
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import described
from ..generation.leased_generator import CLOCK_SEQUENCE_BITS, NODE_BITS, Node
from ..layout import PLAIN, UUIDTemplate
from ..scheme import Scheme
from ..sequence import lexical_sequence
from ..time_scheme import MILLISECOND, TimeScheme
from . import rules
from .families import comb4, from_epoch, ksuid, kuuid, objectid, with_node, xid
from .integers import SNOWFLAKES, snowflake, sonyflake, time64, tsid
from .rows import COMB4, ROWS


def _preset(family: Callable[..., Scheme], **fixed: Any) -> Callable[..., Scheme]:
    return lambda **options: family(**fixed, **options)


def _with_epoch(row: TimeScheme) -> Callable[..., Scheme]:
    def family(*, epoch_ms: int | None = None) -> Scheme:
        return from_epoch(row, epoch_ms)

    family.__qualname__ = row.name
    return family


def _has_node(row: TimeScheme) -> bool:
    """Whether ids sort by time and end with a clock sequence and a node."""
    return row.sorts and row.layout.suffixes == 1 << CLOCK_SEQUENCE_BITS + NODE_BITS


def _with_node(row: TimeScheme) -> Callable[..., Scheme]:
    def family(*, node: Node | None = None) -> Scheme:
        return with_node(row, node)

    family.__qualname__ = row.name
    return family


_FAMILIES: dict[str, Callable[..., Scheme]] = {
    # RFC 9562 defines the epochs of UUIDs.
    **{row.name: _with_epoch(row) for row in ROWS if row.value_type is str},
    **{row.name: _with_node(row) for row in ROWS if _has_node(row)},
    "comb4": comb4,
    **{row.name: _preset(comb4, layout=name) for name, row in COMB4.items() if name != "laravel"},
    "xid": xid,
    "objectid": objectid,
    "ksuid": ksuid,
    "ksuid_ms": _preset(ksuid, precision="ms"),
    "kuuid": kuuid,
    "kuuid_ms": _preset(kuuid, precision="ms"),
    "snowflake": snowflake,
    **{name: _preset(snowflake, layout=name) for name in SNOWFLAKES if name != "twitter"},
    "sonyflake": sonyflake,
    "tsid": tsid,
    "time64": time64,
    "lexical_sequence": lru_cache(typed=True)(lexical_sequence),
}

_CATALOG = MappingProxyType(
    {scheme.name: scheme for scheme in ROWS}
    | {name: family() for name, family in _FAMILIES.items()}
)


_REGISTERED: dict[str, Scheme] = {}


def register(scheme: TimeScheme) -> TimeScheme:
    """Add a scheme of your own to the catalogue, and return it.

    Call this where the module that defines its field is imported, before the class: a field looks
    its scheme up when it is created. A second call with an equal scheme changes nothing and returns
    the first one, so a module may be reloaded.

    Raises ``TypeError`` for anything but a ``TimeScheme``, and ``ValueError`` if another scheme has
    this name, or if the scheme can't work: the message says which part is wrong.
    """
    if not isinstance(scheme, TimeScheme):
        raise TypeError(
            f"{described(scheme)}: expected a TimeScheme, such as Integer(...).scheme()"
        )
    present = _CATALOG.get(scheme.name) or _REGISTERED.get(scheme.name)
    if isinstance(present, TimeScheme) and present == scheme:
        return present
    if present is not None:
        example = present.format(present.example)
        raise ValueError(
            f"the scheme {scheme.name!r} exists: {present.title}, {present.bits} bits, such as "
            f"{example}. Choose another name, or register it once"
        )
    if wrong := rules.problem(scheme):
        raise ValueError(f"scheme {scheme.name!r}: {wrong}")
    _REGISTERED[scheme.name] = scheme
    return scheme


def get(name: str, **options: Any) -> Scheme:
    """The scheme with this name; ``options`` are those of its family, such as ``layout="3+6"``.

    Raises ``LookupError`` for an unknown name, ``TypeError`` for an unknown option.
    """
    scheme = _CATALOG.get(name) or _REGISTERED.get(name)
    if scheme is None:
        names = ", ".join(sorted({**_CATALOG, **_REGISTERED}))
        raise LookupError(
            f"unknown scheme {name!r}; expected one of {names}, or one of your own that is "
            f"registered before its field is created: django_sortable_ids.schemes.register()"
        )
    if not options:
        return scheme
    if name not in _FAMILIES:
        raise TypeError(f"scheme {name!r} takes no options; remove {', '.join(options)}")
    return _FAMILIES[name](**options)


def variants(name: str, **given: Any) -> Iterator[tuple[dict[str, Any], Scheme]]:
    """Each other value of an option that the catalogue knows, with its scheme: those of a
    ``Literal``, and then the epochs of all schemes. ``given`` are the other options."""
    hints = get_type_hints(unwrap(_FAMILIES[name])) if name in _FAMILIES else {}
    known = {
        option: get_args(hint) for option, hint in hints.items() if get_origin(hint) is Literal
    }
    if "epoch_ms" in hints:
        timed = (each for each in _CATALOG.values() if isinstance(each, TimeScheme))
        known["epoch_ms"] = tuple(sorted({each.epoch_ns // MILLISECOND for each in timed}))
    for option, values in known.items():
        for value in values:
            with suppress(ValueError):
                yield {option: value}, get(name, **given | {option: value})


def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme of this package, with its default options, and then the registered ones."""
    return (*_CATALOG.values(), *_REGISTERED.values())


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


@cache
def uuid_schemes() -> Mapping[int, TimeScheme]:
    """The schemes of UUIDs whose version says that they carry a time, by version: not
    version 4, though some of its UUIDs contain a time."""
    return {row.layout.template.version: row for row in ROWS if row.layout.template.version}


def scheme_of_uuid(value: uuid.UUID) -> TimeScheme | None:
    """The scheme of a UUID; None for versions without a time, such as 4."""
    return uuid_schemes().get(value.version) if value.version else None
