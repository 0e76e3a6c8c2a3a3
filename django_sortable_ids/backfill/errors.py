"""What stops a backfill."""

from django.core.management.base import CommandError


class BackfillError(CommandError):
    """Found, expected, and what to do next, for people; nothing has been written that is wrong."""
