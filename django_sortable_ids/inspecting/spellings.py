"""Other spellings of an id, and the same id in other schemes."""

import uuid
from collections.abc import Mapping

from ..schemes import ID, Scheme, TimeScheme, all_schemes, is_lossless

_UUID_BITS = 128


def spellings(scheme: Scheme, value: ID) -> Mapping[str, str]:
    """The texts of an id by encoding; also its number, its bytes in hexadecimal, and its UUID."""
    number = scheme.to_int(value)
    found = {encoding: scheme.format(value, encoding) for encoding in scheme.encodings}
    if not isinstance(scheme, TimeScheme):
        return found
    others = {"integer": str(number), "bytes": scheme.to_bytes(value).hex()}
    if scheme.bits == _UUID_BITS:
        others["uuid"] = str(uuid.UUID(int=number))
    shown = set(found.values())
    return found | {name: text for name, text in others.items() if text not in shown}


def same_in_other_schemes(scheme: Scheme, value: ID) -> Mapping[str, str]:
    """The texts of the id in each scheme that can hold all its bits, by the scheme's name."""
    found = {}
    for other in all_schemes():
        if other.name != scheme.name and is_lossless(scheme, other):
            found[other.name] = other.format(scheme.convert(value, to=other).value)
    return found
