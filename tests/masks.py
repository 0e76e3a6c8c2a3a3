"""Facades of UUIDv7 values, made outside of the fields."""

import secrets
import uuid

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.mask import MaskKey, mask, unmask


def facade(value, key):
    """What a server with that key shows."""
    return str(uuid.UUID(int=mask(value.int, MaskKey.from_hex(key))))


KEY = "0" * 32
"""That of the settings."""


def misread(old_key=KEY):
    """A value, its facade by the old key, and a new key by which that has a time of our days."""
    now = get("uuid7").generate().int >> 80
    for _ in range(100_000):
        value, key = get("uuid7").generate(), secrets.token_hex(16)
        text = facade(value, old_key)
        time = unmask(uuid.UUID(text).int, MaskKey.from_hex(key)) >> 80
        if 10**12 < time < now:
            return value, text, key
    raise AssertionError
