"""Users whose key is an id: password resets if it is masked; both, and sessions, after its move."""

from copy import copy
from functools import reduce
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist, ValidationError
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from .fields.of_model import id_at
from .old_ids import old_key, present_key, resolve_id

_KNOWN_AS_PRESENT = "_sortable_ids_user_id"
"""The key in the session of a user's id that could also be an old one, and is a present one."""


class SortableIDPasswordResetForm(PasswordResetForm):
    """Sends links that name the user by its public text:
    ``PasswordResetView.as_view(form_class=SortableIDPasswordResetForm)``.

    Django's own links contain the unmasked key in base64.
    """

    def send_mail(
        self,
        subject_template_name: Any,
        email_template_name: Any,
        context: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        user = context["user"]
        field = id_at(user._meta.model, "pk")
        if field is not None:
            text = field.public_text.format(user.pk)
            context = context | {"uid": urlsafe_base64_encode(text.encode())}
        super().send_mail(subject_template_name, email_template_name, context, *args, **kwargs)


class OldIDTokenGenerator(PasswordResetTokenGenerator):
    """Also accepts the tokens from before the move of the user's key, which contain the old key."""

    def check_token(self, user: Any, token: str | None) -> bool:
        if super().check_token(user, token):
            return True
        old = old_key(user._meta.model) if user else None
        if old is None:
            return False
        before = copy(user)
        before.pk = reduce(getattr, old.path.split(LOOKUP_SEP), user)
        return before.pk is not None and super().check_token(before, token)


class SortableIDPasswordResetConfirmView(PasswordResetConfirmView):
    """Also accepts the links from before the move of the user's key, as long as
    ``PASSWORD_RESET_TIMEOUT`` says. It replaces Django's ``PasswordResetConfirmView``.

    Like ``OldUserIDMiddleware``, it also works before the move.
    """

    token_generator = OldIDTokenGenerator()

    def get_user(self, uidb64: str) -> Any:
        users = get_user_model()
        try:
            pk = resolve_id(users, urlsafe_base64_decode(uidb64).decode())
        except (ObjectDoesNotExist, ValidationError, ValueError):
            return None
        return users._default_manager.filter(pk=pk).first()


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
        if stored in (None, known):
            return
        users = get_user_model()
        old, stored = old_key(users), str(stored)
        may_be_present = bool(present_key(users).values(stored))
        if may_be_present and not (old and old.values(stored)):
            return
        try:
            pk = str(resolve_id(users, stored))
        except (ObjectDoesNotExist, ValidationError):
            if not may_be_present:
                session.flush()
            return
        session[SESSION_KEY] = pk
        if old and old.values(pk):
            session[_KNOWN_AS_PRESENT] = pk
