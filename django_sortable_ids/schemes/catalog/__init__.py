"""The catalogue: every scheme of this package by name, and those that users register; and what
the functions of its families share."""

import uuid
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, TypeVar

from ..errors import described
from ..layout import PLAIN, BitTemplate, Layout
from ..scheme import Scheme, shared
from ..text_forms import TextForm
from ..time_scheme import MILLISECOND, TimeScheme

T = TypeVar("T")

_FAMILIES = {
    "uuids": "uuid1 uuid6 uuid7 comb13 comb4",
    "texts": "ulid hexulid timeflake scru128 pushid cuid xid objectid ksuid kuuid",
    "integers": "snowflake sonyflake tsid time64",
    "sequence": "lexical_sequence",
}
_MODULES = {name: module for module, names in _FAMILIES.items() for name in names.split()}
"""Where the function of a family of schemes is, which has its name: imported at its first use."""

_PRESETS: dict[str, tuple[str, dict[str, str]]] = {
    "ksuid_ms": ("ksuid", {"precision": "ms"}),
    "kuuid_ms": ("kuuid", {"precision": "ms"}),
    "discord": ("snowflake", {"layout": "discord"}),
    "instagram": ("snowflake", {"layout": "instagram"}),
    "mastodon": ("snowflake", {"layout": "mastodon"}),
    "unique_rowid": ("snowflake", {"layout": "unique_rowid"}),
}
"""Schemes that are a family with certain options."""

_NAMES = tuple(
    name
    for family in _MODULES
    for name in (family, *(preset for preset, (base, _) in _PRESETS.items() if base == family))
)

_WITH_TIME = {1: "uuid1", 6: "uuid6", 7: "uuid7", 13: "comb13"}
"""UUIDs whose version says that they carry a time: not version 4, though some contain one."""

_EPOCHS_MS = range(-62_135_596_800_000, 253_402_300_800_000)
"""Unix times of the years 1 to 9999."""
_EPOCHS_S = range(10**8, 10**10)
"""Unix times in seconds of 1973 to 2286. In ms, they would be in the first months of 1970."""

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
    present = get(scheme.name) if scheme.name in (*_NAMES, *_REGISTERED) else None
    if isinstance(present, TimeScheme) and present == scheme:
        return present
    if present is not None:
        example = present.format(present.example)
        raise ValueError(
            f"the scheme {scheme.name!r} exists: {present.title}, {present.bits} bits, such as "
            f"{example}. Choose another name, or register it once"
        )
    from . import rules

    if wrong := rules.problem(scheme):
        raise ValueError(f"scheme {scheme.name!r}: {wrong}")
    _REGISTERED[scheme.name] = scheme
    return scheme


def get(name: str, **options: Any) -> Scheme:
    """The scheme with this name; ``options`` are those of its family, such as ``layout="3+6"``.

    Raises ``LookupError`` for an unknown name, ``TypeError`` for an unknown option.
    """
    usual, registered = options_of(name), _REGISTERED.get(name)
    family = registered or _family(name)
    if options and not usual:
        raise TypeError(f"scheme {name!r} takes no options; remove {', '.join(options)}")
    if isinstance(family, Scheme):
        return family
    if fixed := options.keys() & family.keywords:
        option = ", ".join(fixed)
        raise TypeError(f"scheme {name!r}: multiple values for keyword argument {option!r}")
    # Options that change nothing give the scheme without them.
    changed = {
        option: value
        for option, value in options.items()
        if option not in usual or repr(value) != repr(usual[option])
    }
    return _built(family.func, **{**family.keywords, **changed})


@lru_cache(maxsize=None, typed=True)
def _built(family: Callable[..., Scheme], /, **options: Any) -> Scheme:
    """Always the same scheme for the same options: it has the generator of its ids."""
    return shared(family(**options))


def options_of(name: str) -> dict[str, Any]:
    """The options of a scheme of this package, with their defaults."""
    return dict(_family(name).func.__kwdefaults__ or {}) if name in _NAMES else {}


@cache
def _family(name: str) -> "partial[Scheme]":
    """The function of the family, with the options of a preset."""
    family, fixed = _PRESETS.get(name, (name, {}))
    if family not in _MODULES:
        names = ", ".join(sorted((*_NAMES, *_REGISTERED)))
        raise LookupError(
            f"unknown scheme {name!r}; expected one of {names}, or one of your own that is "
            f"registered before its field is created: django_sortable_ids.schemes.register()"
        )
    module = import_module(f"{__package__}.{_MODULES[family]}")
    return partial(getattr(module, family), **fixed)


def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme of this package, with its default options, and then the registered ones."""
    return (*map(get, _NAMES), *_REGISTERED.values())


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
    # The number of a UUIDv7 begins with its 48 bits of time, as those of ULIDs do.
    return source.is_uuid7 and (to.bits, theirs) == (128, Layout(ticks=1 << 48, suffixes=1 << 80))


def scheme_of_uuid(value: uuid.UUID) -> TimeScheme | None:
    """The scheme of a UUID; None for versions without a time, such as 4."""
    scheme = get(_WITH_TIME[value.version]) if value.version in _WITH_TIME else None
    assert scheme is None or isinstance(scheme, TimeScheme)
    return scheme


# What the families share


def entry(
    name: str,
    title: str,
    specification: str,
    forms: TextForm | tuple[tuple[str, TextForm], ...],
    template: BitTemplate = PLAIN,
    *,
    time: int,
    suffix: int,
    set_bit: int | None = None,
    tick_ns: int = MILLISECOND,
    **attributes: Any,
) -> TimeScheme:
    """``time | suffix`` bits; the suffix is random."""
    is_uuid = template.version is not None
    return TimeScheme(
        name=name,
        title=title,
        specification=specification,
        bits=128 if is_uuid else time + suffix,
        value_type=uuid.UUID if is_uuid else str,
        text_forms=forms if isinstance(forms, tuple) else (("canonical", forms),),
        layout=Layout(ticks=1 << time, suffixes=1 << suffix, template=template, set_bit=set_bit),
        tick_ns=tick_ns,
        **attributes,
    )


def epoch(epoch_ms: int | None) -> int:
    """The Unix time in ns of an option ``epoch_ms``; 0 for None.

    Raises ``ValueError`` unless it is a whole number of the years 1 to 9999.
    """
    if epoch_ms is None:
        return 0
    is_number = isinstance(epoch_ms, int) and not isinstance(epoch_ms, bool)
    if not is_number or epoch_ms not in _EPOCHS_MS:
        raise ValueError(
            f"epoch_ms={epoch_ms!r}: expected a Unix time in ms, a whole number of the years 1 to "
            f"9999"
        )
    if epoch_ms in _EPOCHS_S:
        raise ValueError(f"epoch_ms={epoch_ms}: expected ms, found s; write {epoch_ms}_000")
    return epoch_ms * MILLISECOND


def one_of(rows: Mapping[Any, T], **option: Any) -> T:
    """The row that the option, given by its name, selects; ``ValueError`` if there is none."""
    ((name, value),) = option.items()
    if value not in rows:
        raise ValueError(f"{name}={value!r}: expected {' or '.join(map(repr, rows))}")
    return rows[value]
