"""Users' schemes, in the catalogue for one test."""

import pytest

from django_sortable_ids import schemes
from django_sortable_ids.schemes import catalog as registry
from tests.own_tables import table_with

from .schemes import COLUMNS, SCHEMES


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    for scheme in SCHEMES:
        schemes.register(scheme)


@pytest.fixture(
    params=COLUMNS, ids=lambda column: " ".join([column[0].__name__, *column[1].values()])
)
def field(request, registered):
    field_class, options = request.param
    return field_class(null=True, **options)


@pytest.fixture
def model(field):
    with table_with(field) as made:
        yield made
