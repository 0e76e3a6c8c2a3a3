"""Alphabets, and positional notation over them: a number to fixed-width digits and back.

Every alphabet whose digits stand in ASCII order makes text that sorts as the number does,
provided that the text has a fixed width and the collation compares bytes.
"""

from functools import lru_cache

HEX_LOWER = "0123456789abcdef"
HEX_UPPER = "0123456789ABCDEF"

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32 (https://www.crockford.com/base32.html), as ULID and TypeID use it."""

CROCKFORD_LOWER = CROCKFORD.lower()

BASE32_HEX_LOWER = "0123456789abcdefghijklmnopqrstuv"
"""Base 32 in ASCII order (RFC 4648, section 7), in lower case as xid uses it."""

BASE36_LOWER = "0123456789abcdefghijklmnopqrstuvwxyz"

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""Bitcoin's base 58."""

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Digits, upper case, lower case: the ASCII order, as KSUID and kuuid use it."""

PUSH_ID = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
"""The 64 characters of a Firebase push id, in ASCII order."""

SHORTUUID = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""The 57 characters of https://github.com/skorokithakis/shortuuid."""


def digits(number: int, alphabet: str, length: int) -> str:
    """``number`` in the base of ``alphabet``, left-padded to ``length`` characters.

    The caller guarantees ``0 <= number < len(alphabet) ** length``.
    """
    base = len(alphabet)
    pairs = _digit_pairs(alphabet)
    square = base * base
    parts = []
    for _ in range(length // 2):
        number, low = divmod(number, square)
        parts.append(pairs[low])
    if length % 2:
        parts.append(alphabet[number])
    parts.reverse()
    return "".join(parts)


def number(text: str, alphabet: str) -> int:
    """The number that ``text`` writes in the base of ``alphabet``.

    Raises ``ValueError`` with the offending character.
    """
    base = len(alphabet)
    weights = _digit_values(alphabet)
    total = 0
    try:
        for character in text:
            total = total * base + weights[character]
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is not one of its characters") from None
    return total


@lru_cache
def _digit_pairs(alphabet: str) -> tuple[str, ...]:
    return tuple(high + low for high in alphabet for low in alphabet)


@lru_cache
def _digit_values(alphabet: str) -> dict[str, int]:
    return {character: value for value, character in enumerate(alphabet)}
