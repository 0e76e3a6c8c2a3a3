"""What makes ids collide for certain, and counts how often that was tried."""

import re
from contextlib import contextmanager
from datetime import UTC, datetime

from django.db import connection, models

from django_sortable_ids.fields import SnowflakeField, Time64Field
from django_sortable_ids.testing import deterministic_ids

AT = datetime(2026, 1, 1, tzinfo=UTC)

COLLIDING = {
    "time64 4+5": Time64Field,
    "time64 3+6": lambda **options: Time64Field(layout="3+6", **options),
    "snowflake": SnowflakeField,
}
"""Fields whose ids can collide; none of them has a worker number."""


def sixteen_a_tick(**options):
    """A field with 16 ids in each millisecond; the first of a tick is any of them."""
    return SnowflakeField(time_bits=59, worker_bits=0, **options)


def the_same_ids():
    """Two processes at the same moment, with the same luck: each of two such contexts makes the
    same ids.
    """
    return deterministic_ids(AT)


def ids_of_five_tries(field):
    """All that five ids may be: those of the tick, and of the ticks after it where it is full."""
    first = field.scheme.lower_bound(AT)
    return range(first, first + 5 * 16)


@contextmanager
def inserts_into(*models):
    """The INSERTs into the tables, those that are refused too."""
    made = []
    names = "|".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    head = re.compile(f"INSERT (OR IGNORE |IGNORE )?INTO ({names}) ")

    def note(execute, sql, *arguments):
        if head.match(sql):
            made.append(sql)
        return execute(sql, *arguments)

    with connection.execute_wrapper(note):
        yield made


class Named(models.Model):
    slug = models.CharField(max_length=200, null=True, unique=True)  # noqa: DJ001

    class Meta:
        abstract = True
        app_label = "testapp"

    def __str__(self):
        return f"{self.pk}"
