"""Which tests are collected: graphene's in the environment that has it, all others elsewhere."""

from tests.ecosystem.settings import WITH_GRAPHENE


def pytest_ignore_collect(collection_path):
    is_test = collection_path.name.startswith("test_")
    is_of_graphene = collection_path.name == "test_graphene.py"
    return True if is_test and is_of_graphene != WITH_GRAPHENE else None
