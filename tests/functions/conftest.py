"""The keys whose time the database can read."""

import pytest

from tests.testapp.models import STORED_KEYS, SequenceKey


@pytest.fixture(
    params=[key for key in STORED_KEYS if key is not SequenceKey],
    ids=lambda model: model.__name__.removesuffix("Key"),
)
def decoded_key(request):
    return request.param
