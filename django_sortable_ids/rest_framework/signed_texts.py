"""Public texts that only the app reads, such as cursors: nobody else can make one.

Somebody who could compare ids with texts of his own would read their times. The random bits of a
masked text say by what its time is XORed, so that a text with one bit of time changed is a text of
the time with that bit changed, and 48 comparisons are a binary search.
"""

from django.utils.crypto import constant_time_compare, salted_hmac

from .. import conf
from ..fields import SortableIDField
from ..schemes import ID, InvalidID
from ..schemes.mask import MaskKey

_SALT = "django_sortable_ids.signed_texts"
_DIGITS = 32
"""Hexadecimal digits of a signature: 128 bits."""


def sign(field: SortableIDField, value: ID) -> str:
    """The public text; a masked one with a signature by its key, of the text and its column."""
    text = field.public_text.format(value)
    return f"{text}.{_signature(field, text, conf.mask_keys()[0])}" if _is_masked(field) else text


def read(field: SortableIDField, signed: str) -> ID:
    """The value of a text of ``sign``; ``InvalidID``.

    The signature says which key masked the text, so it has one value after a change of the key.
    """
    if not _is_masked(field):
        return field.public_text.parse(signed)
    text, _, signature = signed.rpartition(".")
    for key in conf.mask_keys():
        if constant_time_compare(signature, _signature(field, text, key)):
            return field.public_text.parse_with(text, key)
    raise InvalidID("it is of another column, or of a key that is gone, or made up")


def _signature(field: SortableIDField, text: str, key: MaskKey) -> str:
    secret = f"{key.k0:016x}{key.k1:016x}"
    signed = salted_hmac(_SALT, f"{field} {text}", secret=secret, algorithm="sha256")
    return signed.hexdigest()[:_DIGITS]


def _is_masked(field: SortableIDField) -> bool:
    return field.public_text.masked
