"""Errors that stop a backfill."""

from django.core.management.base import CommandError

__all__ = ["BackfillError", "Interrupted", "WrongArguments"]


class BackfillError(CommandError):
    """It says what was found, what was expected and what to do; nothing wrong was written."""


class Interrupted(CommandError):
    """The user stopped the command: no failure; ``returncode`` is the one that shells expect."""


class WrongArguments(BackfillError):
    """Arguments that can't be combined; the exit code is that of argparse, 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
