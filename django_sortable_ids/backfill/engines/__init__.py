"""The SQL of a backfill for each database."""

from django.db import connections

from .base import Engine
from .mysql import MySQL
from .postgresql import PostgreSQL
from .sqlite import SQLite

__all__ = ["Engine", "engine_of"]

_ENGINES: dict[str, type[Engine]] = {"mysql": MySQL, "postgresql": PostgreSQL, "sqlite": SQLite}


def engine_of(using: str) -> Engine:
    connection = connections[using]
    return _ENGINES[connection.vendor](connection)
