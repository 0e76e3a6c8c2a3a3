"""Statistics of tables, as a database has them a while after rows were inserted."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, models

from django_sortable_ids.models import SequenceCounter

_STATEMENTS = {"sqlite": "ANALYZE {}", "postgresql": "ANALYZE {}", "mysql": "ANALYZE TABLE {}"}


def gather(*of: type[models.Model]) -> None:
    with connection.cursor() as cursor:
        for model in of:
            cursor.execute(_STATEMENTS[connection.vendor].format(model._meta.db_table))
            if connection.vendor == "mysql":
                cursor.fetchall()


@contextmanager
def analysed(*of: type[models.Model]) -> Iterator[None]:
    """The database knows how many rows these tables have.

    MariaDB and MySQL commit before they look, so there the rows are deleted at the end, and the
    counters of their sequences.
    """
    gather(*of)
    try:
        yield
    finally:
        if connection.vendor == "mysql":
            for model in (*of, SequenceCounter):
                model._base_manager.all().delete()
            gather(*of)
