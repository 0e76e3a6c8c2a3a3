"""The keys whose time the database can read."""

import pytest
from django.db import connection

from tests.testapp.models import (
    KEYS,
    STORED_KEYS,
    SequenceKey,
    TimeflakeTextKey,
)

# SQLite has no arithmetic for a number of 128 bits in base 62.
WITHOUT = [SequenceKey, *([TimeflakeTextKey] if connection.vendor == "sqlite" else [])]


@pytest.fixture(
    params=[key for key in KEYS + STORED_KEYS if key not in WITHOUT],
    ids=lambda model: model.__name__.removesuffix("Key"),
)
def decoded_key(request):
    return request.param
