"""Creates the database of the settings, empty, also if there is one."""

from pathlib import Path

from django.db import connection

if connection.vendor == "sqlite":
    Path(connection.settings_dict["NAME"]).unlink(missing_ok=True)
else:
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name}")
