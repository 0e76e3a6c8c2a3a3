"""What every test may ask for: a model for each kind of key."""

import pytest

from tests.testapp.models import KEYS, STORED_KEYS, SequenceKey


def _name(model):
    return model.__name__.removesuffix("Key")


@pytest.fixture(params=KEYS, ids=_name)
def key(request):
    """A model whose primary key is of one scheme."""
    return request.param


@pytest.fixture(params=KEYS + STORED_KEYS, ids=_name)
def stored_key(request):
    """As ``key``, and again with the columns that other packages make."""
    return request.param


@pytest.fixture(params=[model for model in KEYS if model is not SequenceKey], ids=_name)
def time_key(request):
    """As ``key``, but for the sequence, whose ids carry no time."""
    return request.param
