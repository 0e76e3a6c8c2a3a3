"""Looks for an id's bare value in whatever left the process, in any spelling."""

import base64
import re
import uuid
from contextlib import suppress

_FROM_URLS = bytes.maketrans(b"-_", b"+/")


def spellings(value: uuid.UUID) -> set[bytes]:
    """How the bare value may be written."""
    texts = {str(value), value.hex, str(value.int), f"{value!r}", str(value)[:13], value.hex[:12]}
    found = {text.encode() for text in texts}
    found |= {text.upper() for text in found}
    return found | {value.bytes, value.bytes_le}


def decoded(content: bytes) -> list[bytes]:
    """The content, and what its words are without percent encoding and base64."""
    plain = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), content)
    parts = [content, plain]
    for word in re.findall(rb"[A-Za-z0-9+/_-]{8,}", plain):
        for text in {word, *word.split(b"/")}:
            padded = text.translate(_FROM_URLS) + b"=" * (-len(text) % 4)
            with suppress(ValueError):
                parts.append(base64.b64decode(padded))
    return parts


def leaks(content: str | bytes, *values: uuid.UUID) -> bool:
    """Whether one of the values stands in the content."""
    if isinstance(content, str):
        content = content.encode()
    parts = decoded(content)
    return any(text in part for value in values for text in spellings(value) for part in parts)
