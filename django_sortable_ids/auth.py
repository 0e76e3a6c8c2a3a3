"""Password resets of users whose key is a masked id, and of those whose key has moved."""

from copy import copy
from functools import reduce
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models.constants import LOOKUP_SEP
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from .fields.of_model import id_at
from .old_ids.resolving import old_key, resolve_id

__all__ = [
    "OldIDTokenGenerator",
    "SortableIDPasswordResetConfirmView",
    "SortableIDPasswordResetForm",
]


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
        field = id_at(type(user), "pk")
        if field is not None:
            text = field.public_text.format(user.pk)
            context = context | {"uid": urlsafe_base64_encode(text.encode())}
        super().send_mail(subject_template_name, email_template_name, context, *args, **kwargs)


class OldIDTokenGenerator(PasswordResetTokenGenerator):
    """Also accepts the tokens from before the move of the user's key, which contain the old key."""

    def check_token(self, user: Any, token: str | None) -> bool:
        if super().check_token(user, token):
            return True
        old = old_key(type(user)) if user else None
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
