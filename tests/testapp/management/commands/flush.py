"""What Django's tests call after each test that commits: here it costs what the test has written.

Django's own empties every table of the project, 150 here, and makes all content types and
permissions anew: 0.1 s a test on SQLite, more on servers.
"""

from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import BaseCommand, CommandParser
from django.core.management.color import no_style
from django.db import connections

# They are made by ``migrate``, once.
_KEPT = {Permission._meta.db_table, ContentType._meta.db_table}


class Command(BaseCommand):
    stealth_options = ("reset_sequences", "allow_cascade", "inhibit_post_migrate", "interactive")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--database", default="default")

    def handle(self, *, database: str, **_: Any) -> None:
        connection = connections[database]
        tables = connection.introspection.django_table_names(
            only_existing=True, include_views=False
        )
        quote = connection.ops.quote_name
        asked = [
            f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {quote(table)})"
            for table in tables
            if table not in _KEPT
        ]
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(asked))
            filled = [table for (table,) in cursor.fetchall()]
        if filled:
            # PostgreSQL truncates no table that another, empty or not, points to.
            cascades = connection.vendor == "postgresql"
            statements = connection.ops.sql_flush(no_style(), filled, allow_cascade=cascades)
            connection.ops.execute_sql_flush(statements)
