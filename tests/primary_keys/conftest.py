"""A graph with every kind of reference, in migrations of a throw-away app."""

from tests.migrations.conftest import depot  # noqa: F401
