"""Alphabets: the digits of text forms, in order.

If the digits are in ASCII order, texts sort like the numbers, provided that the texts have a fixed
width and the collation compares bytes.
"""

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

BASE64_URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""The URL-safe base 64 of RFC 4648, section 5."""

PUSH_ID = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
"""The 64 characters of a Firebase push id, in ASCII order."""

SHORTUUID = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""The 57 characters of https://github.com/skorokithakis/shortuuid."""

UNRESERVED = BASE62 + "-._~"
"""The characters that need no escaping in a URL (RFC 3986, section 2.3)."""
