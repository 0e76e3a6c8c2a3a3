"""Links in mails from before the move of the user's key: their password resets."""

from copy import copy
from functools import reduce
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models.constants import LOOKUP_SEP
from django.utils.http import urlsafe_base64_decode

from .resolving import other_key, resolve_id

__all__ = ["OldIDTokenGenerator", "SortableIDPasswordResetConfirmView"]


class OldIDTokenGenerator(PasswordResetTokenGenerator):
    """Also accepts the tokens from before the move of the user's key, which contain the old key."""

    def check_token(self, user: Any, token: str | None) -> bool:
        if super().check_token(user, token):
            return True
        other = other_key(type(user)) if user else None
        if other is None:
            return False
        before = copy(user)
        before.pk = reduce(getattr, other.path.split(LOOKUP_SEP), user)
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
