"""The keys whose time the database can read."""

import pytest

from tests.testapp.models import (
    KEYS,
    STORED_KEYS,
    SequenceKey,
    TimeflakeTextKey,
)

WITHOUT = [SequenceKey, TimeflakeTextKey]


@pytest.fixture(
    params=[key for key in KEYS + STORED_KEYS if key not in WITHOUT],
    ids=lambda model: model.__name__.removesuffix("Key"),
)
def decoded_key(request):
    return request.param
