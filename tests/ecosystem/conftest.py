"""What the tests share, and which are collected: graphene's in the environment that has it, all
others elsewhere.
"""

import json

import pytest

from tests.ecosystem.settings import WITH_GRAPHENE
from tests.ecosystem.shop.data import stock


def pytest_ignore_collect(collection_path):
    is_test = collection_path.name.startswith("test_")
    is_of_graphene = collection_path.name == "test_graphene.py"
    return True if is_test and is_of_graphene != WITH_GRAPHENE else None


@pytest.fixture
def ticket():
    return stock()


@pytest.fixture
def ask(client):
    """The data and the errors of an answer, which is never a server error."""

    def ask(query, **variables):
        body = json.dumps({"query": query, "variables": variables})
        answer = client.post("/graphql/", body, content_type="application/json")
        assert answer.status_code < 500
        found = answer.json()
        return found.get("data"), found.get("errors")

    return ask
