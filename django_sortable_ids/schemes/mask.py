"""UUIDv47: a UUIDv7 with a masked time, so that it looks like a random UUIDv4, its facade.

The 48 bits of time are XORed with the low 48 bits of SipHash-2-4 of the 74 random bits, and the
version becomes 4 (https://github.com/stateless-me/uuidv47). The random bits do not change, so the
key can undo the mask. A facade contains no checksum: any key turns it into some UUIDv7.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from .layout import UUIDTemplate

_V4, _V7 = UUIDTemplate(4), UUIDTemplate(7)
_LOW_48 = (1 << 48) - 1
_LOW_62 = (1 << 62) - 1
_LOW_64 = (1 << 64) - 1
_SUFFIX_BITS = 74
_SUFFIX = (1 << _SUFFIX_BITS) - 1


class MaskKey(NamedTuple):
    """A SipHash key."""

    k0: int
    k1: int

    @classmethod
    def from_hex(cls, text: str) -> "MaskKey":
        """The key of 32 hexadecimal digits: 16 for ``k0``, then 16 for ``k1``, each with its most
        significant digit first.

        For example, ``k0 = 0x0123456789abcdef, k1 = 0xfedcba9876543210`` of uuidv47 is
        ``"0123456789abcdeffedcba9876543210"``. The hex of django-uuid47's 16 bytes is the same key.
        (SipHash's own 16 bytes are two little-endian numbers: reverse each half.) Raises
        ``ValueError`` for any other text; the message does not show it.
        """
        if not re.fullmatch("[0-9A-Fa-f]{32}", text):
            raise ValueError("expected a mask key of 32 hexadecimal digits")
        return cls(int(text[:16], 16), int(text[16:], 16))

    def __repr__(self) -> str:
        return "MaskKey(...)"


def mask(number: int, key: MaskKey) -> int:
    """Masks the number of a UUIDv7; returns the number of its facade, a UUIDv4."""
    payload = _V7.unwrap(number)
    assert payload is not None, "only a UUIDv7 can be masked"
    return _V4.wrap(_flip(payload, key))


def unmask(number: int, key: MaskKey) -> int | None:
    """The number of the UUIDv7 of a facade; None if the number is not a UUIDv4."""
    payload = _V4.unwrap(number)
    return None if payload is None else _V7.wrap(_flip(payload, key))


def _flip(payload: int, key: MaskKey) -> int:
    # rand_a 12, in two bytes | rand_b 62, in eight
    suffix = payload & _SUFFIX
    message = (suffix >> 62).to_bytes(2, "big") + (suffix & _LOW_62).to_bytes(8, "big")
    return payload ^ (siphash(message, key) & _LOW_48) << _SUFFIX_BITS


def siphash(message: bytes, key: MaskKey) -> int:
    """SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"): 64 bits."""
    v0, v1 = key.k0 ^ 0x736F6D6570736575, key.k1 ^ 0x646F72616E646F6D
    v2, v3 = key.k0 ^ 0x6C7967656E657261, key.k1 ^ 0x7465646279746573
    whole = len(message) // 8 * 8
    last = (len(message) & 0xFF) << 56 | int.from_bytes(message[whole:], "little")
    words = [int.from_bytes(message[start : start + 8], "little") for start in range(0, whole, 8)]
    # Two rounds for each word, and four for the end.
    for word, rounds, end in (*((block, 2, 0) for block in (*words, last)), (0, 4, 0xFF)):
        v3 ^= word
        v2 ^= end
        for _ in range(rounds):
            v0 = v0 + v1 & _LOW_64
            v2 = v2 + v3 & _LOW_64
            v1 = (v1 << 13 & _LOW_64 | v1 >> 51) ^ v0
            v3 = (v3 << 16 & _LOW_64 | v3 >> 48) ^ v2
            v0 = v0 << 32 & _LOW_64 | v0 >> 32
            v2 = v2 + v1 & _LOW_64
            v0 = v0 + v3 & _LOW_64
            v1 = (v1 << 17 & _LOW_64 | v1 >> 47) ^ v2
            v3 = (v3 << 21 & _LOW_64 | v3 >> 43) ^ v0
            v2 = v2 << 32 & _LOW_64 | v2 >> 32
        v0 ^= word
    return v0 ^ v1 ^ v2 ^ v3


@lru_cache
def read_keys(texts: tuple[str, ...]) -> tuple[MaskKey, ...]:
    return tuple(map(MaskKey.from_hex, texts))
