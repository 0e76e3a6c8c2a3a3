"""What schemes say of texts, in the language of the user."""

from django.utils import translation
from django.utils.translation import pgettext_lazy

from ...schemes.phrases import Phrase

CONTEXT = "sortable ids"

TEMPLATES = (
    pgettext_lazy(
        "sortable ids",
        "%(found)s is not a valid %(scheme)s: %(reason)s. "
        "Expected %(expected)s, such as %(example)s.",
    ),
    # What is expected
    pgettext_lazy("sortable ids", "%(expected)s, such as %(example)s"),
    pgettext_lazy("sortable ids", "“%(prefix)s” and %(expected)s"),
    pgettext_lazy("sortable ids", "%(expected)s, in any case"),
    pgettext_lazy("sortable ids", "%(count)d characters of %(characters)s"),
    pgettext_lazy("sortable ids", "1 to %(count)d characters of %(characters)s"),
    pgettext_lazy("sortable ids", "a whole number of %(count)d digits"),
    pgettext_lazy("sortable ids", "a whole number of at most %(count)d digits"),
    pgettext_lazy("sortable ids", "32 hexadecimal digits, hyphens optional"),
    pgettext_lazy(
        "sortable ids", "a version 1 UUID with the bytes of its first three groups reversed"
    ),
    pgettext_lazy("sortable ids", "%(template)s, whose number has %(expected)s"),
    # Reasons
    pgettext_lazy("sortable ids", "it has %(found)d characters, not %(length)d"),
    pgettext_lazy("sortable ids", "it has %(found)d characters"),
    pgettext_lazy("sortable ids", "%(found)s is not one of its characters"),
    pgettext_lazy("sortable ids", "its last character has bits beyond the last byte"),
    pgettext_lazy("sortable ids", "%(found)s is more than %(bits)d bits can hold"),
    pgettext_lazy("sortable ids", "it is not a plain decimal number of that size"),
    pgettext_lazy("sortable ids", "it is not a UUID in hexadecimal"),
    pgettext_lazy("sortable ids", "it is not URL-safe base 64 of that size"),
    pgettext_lazy("sortable ids", "it is not a version 1 UUID in SQL Server's byte order"),
    pgettext_lazy("sortable ids", "it does not begin with %(prefix)s"),
    pgettext_lazy("sortable ids", "it is not %(template)s"),
    pgettext_lazy("sortable ids", "it is out of the scheme's range"),
    pgettext_lazy("sortable ids", "it is a UUID of version %(found)d, not %(wanted)d"),
)
"""Of all phrases of the catalogue."""


def translated(text: str) -> str:
    """The phrase in the current language; any other text, such as one of a scheme of the project's
    own, unchanged.
    """
    if not isinstance(text, Phrase):
        return text
    values = {
        name: translated(value) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    return translation.pgettext(CONTEXT, text.template) % values
