"""Whether the time in an id can be right."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from ...schemes import ID, InvalidID, OutOfRange, Scheme, TimeScheme

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_RANDOM = 4
"""The UUID version that is random, unless its generator is known."""


def created_at(scheme: Scheme, value: ID) -> datetime | None:
    """The time in an id, UTC; None if it has none, such as a UUID of another version, or one after
    the year 9999.
    """
    if not isinstance(scheme, TimeScheme):
        return None
    try:
        return scheme.created_at(value)
    except (OutOfRange, InvalidID):
        return None


def doubt(scheme: Scheme, created: datetime | None, *, is_used: bool) -> str | None:
    """Why the id is probably not of this scheme; None if it may well be.

    ``is_used``: the project has ids of this scheme.
    """
    if not isinstance(scheme, TimeScheme):
        return None if is_used else _("any short text fits a sequence")
    if created is None:
        return _("its time would be after the year 9999")
    if created > timezone.now().astimezone(UTC) + _DAY:
        return _("its time is in the future")
    if created < _FIRST:
        return _("its time is before the year 2000")
    if scheme.earliest >= _FIRST and created - scheme.earliest < _DAY:
        return _("its time is in the first day of the scheme: it may be a plain number")
    if scheme.layout.template.version == _RANDOM and not is_used:
        return _("UUIDs of version 4 are random, unless their generator gives them a time")
    return None
