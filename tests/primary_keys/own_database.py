"""A project in files, with a database of the engine that the tests run on."""

from contextlib import contextmanager

from django.db import connection

from tests.backfill.own_project import SETTINGS
from tests.support import execute

TYPES = ("django.contrib.auth", "django.contrib.contenttypes")
"""Apps that generic references and histories need."""
WITHOUT_PAGES = ["admin.E403", "admin.E408", "admin.E409", "admin.E410"]
"""The admin's models are used without its pages."""


@contextmanager
def settings_of_project(*apps):
    """The settings; the database lives as long."""
    name = f"{connection.settings_dict['NAME']}_project"
    database = {key: connection.settings_dict[key] for key in ("ENGINE", "USER", "PASSWORD")}
    database |= {key: connection.settings_dict[key] for key in ("HOST", "PORT")}
    more = f"INSTALLED_APPS += {list(apps)}\nSILENCED_SYSTEM_CHECKS = {WITHOUT_PAGES}\n"
    if connection.vendor == "sqlite":
        yield SETTINGS + more
        return
    quoted = connection.ops.quote_name(name)
    execute(f"DROP DATABASE IF EXISTS {quoted}", f"CREATE DATABASE {quoted}")
    try:
        yield f"{SETTINGS}{more}DATABASES = {{'default': {database | {'NAME': name}!r}}}\n"
    finally:
        execute(f"DROP DATABASE {quoted}")
