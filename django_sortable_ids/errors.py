"""Errors that stop a command or a migration, and what messages have in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import distributions

from django.core.management.base import CommandError

__all__ = ["BackfillError", "Interrupted", "WrongArguments"]


@cache
def documented(title: str, path: str) -> str:
    """A page of the documentation, with its address if [project.urls] of pyproject.toml has one."""
    packages = (distribution.metadata for distribution in distributions(name="django-sortable-ids"))
    urls = [url for metadata in packages for url in metadata.get_all("Project-URL", [])]
    address = dict(url.split(", ", 1) for url in urls).get("Documentation")
    return f"{title}: {address}{path}" if address else f"{title} in the documentation"


def see(number: str) -> str:
    """Where more is said about a message of ``check``."""
    return documented(f"See {number}", f"reference/errors.html#{number.lower()}") + "."


def counted(number: int, noun: str) -> str:
    """``1 row``, or ``336,776 rows``"""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def minutes(seconds: float) -> str:
    """``0:04``, or ``1:00:00`` with hours."""
    minute, rest = divmod(round(max(seconds, 0)), 60)
    hours, minute = divmod(minute, 60)
    return f"{hours}:{minute:02d}:{rest:02d}" if hours else f"{minute}:{rest:02d}"


class BackfillError(CommandError):
    """An error that says what was found and expected, and what to do; nothing wrong was written."""


@contextmanager
def reading_migrations() -> Iterator[None]:
    """Explain the errors of migrations that can't be read."""
    from django.db.migrations.exceptions import (
        BadMigrationError,
        CircularDependencyError,
        NodeNotFoundError,
    )

    wrong = BadMigrationError, CircularDependencyError, NodeNotFoundError, ImportError, SyntaxError
    try:
        yield
    except wrong as error:
        raise BackfillError(
            f"the migrations can't be read: {error}. Correct them, and run this again"
        ) from error


class Interrupted(CommandError):
    """The user stopped the command: no failure; ``returncode`` is the one that shells expect."""


class WrongArguments(BackfillError):
    """Arguments that can't be combined; the exit code is that of argparse, 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
