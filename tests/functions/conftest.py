"""The keys whose time the database can read."""

import pytest
from django.db import connection

from tests.testapp.models import (
    KEYS,
    STORED_KEYS,
    KSUIDTextKey,
    SCRU128TextKey,
    SequenceKey,
    TimeflakeTextKey,
)

LONG_TEXTS = [KSUIDTextKey, SCRU128TextKey, TimeflakeTextKey]
"""Numbers of 128 and 160 bits in base 36 and 62, for which SQLite has no arithmetic."""

WITHOUT = [SequenceKey, *(LONG_TEXTS if connection.vendor == "sqlite" else [])]


DECODED_KEYS = [key for key in KEYS + STORED_KEYS if key not in WITHOUT]


@pytest.fixture(
    params=DECODED_KEYS,
    ids=lambda model: model.__name__.removesuffix("Key"),
)
def decoded_key(request):
    return request.param
