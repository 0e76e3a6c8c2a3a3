"""What stops a backfill."""

from django.core.management.base import CommandError

__all__ = ["BackfillError", "Interrupted", "WrongArguments"]


class BackfillError(CommandError):
    """Found, expected, and what to do next, for people; nothing has been written that is wrong."""


class Interrupted(CommandError):
    """The user stopped the command, which is no error; ``returncode`` is what a shell expects."""


class WrongArguments(BackfillError):
    """Arguments that don't go together, which end with the code of argparse."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
