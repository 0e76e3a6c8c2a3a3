"""Users whose key is a masked id: their password resets."""

from typing import Any

from django.contrib.auth.forms import PasswordResetForm
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from .fields.of_model import id_at

__all__ = ["SortableIDPasswordResetForm"]


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
            uid = urlsafe_base64_encode(force_bytes(field.public_text.format(user.pk)))
            context = context | {"uid": uid}
        super().send_mail(subject_template_name, email_template_name, context, *args, **kwargs)
