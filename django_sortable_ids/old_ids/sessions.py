"""Visitors stay logged in when the key of the user model moves."""

from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user_model
from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist, ValidationError
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from .resolving import old_key, present_key, resolve_id

__all__ = ["OldUserIDMiddleware"]

_KNOWN_AS_PRESENT = "_sortable_ids_user_id"
"""The key in the session of a user's id that also looks like an old one, but is none."""


class OldUserIDMiddleware(MiddlewareMixin):
    """Replaces the user's old key in a session by the present one, once: the session stores it.

    It stands between ``SessionMiddleware`` and ``AuthenticationMiddleware``. Before the move, it
    changes nothing, so it may be deployed first. An id that no user has ends the session if the
    key's type refuses it, as after the move was undone.
    """

    def process_request(self, request: HttpRequest) -> None:
        if not hasattr(request, "session"):
            raise ImproperlyConfigured(
                "OldUserIDMiddleware is before SessionMiddleware in MIDDLEWARE: move it after that"
            )
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return
        session = request.session
        # The page itself need not depend on the session, and then has no "Vary: Cookie".
        accessed = session.accessed
        stored, known = session.get(SESSION_KEY), session.get(_KNOWN_AS_PRESENT)
        session.accessed = accessed
        if stored is not None and stored != known:
            _replace(session, str(stored))


def _replace(session: Any, stored: str) -> None:
    """Store the present key, if ``stored`` isn't already known as it."""
    users = get_user_model()
    own, old = present_key(users), old_key(users)
    may_be_present = bool(own.values(stored))
    may_be_old = old is not None and bool(old.values(stored))
    if may_be_present and not may_be_old:
        return
    try:
        found = str(resolve_id(users, stored))
    except (ObjectDoesNotExist, ValidationError):
        if not may_be_present:
            session.flush()
        return
    session[SESSION_KEY] = found
    if old is not None and old.values(found):
        session[_KNOWN_AS_PRESENT] = found
