"""Public texts that only the app reads, such as cursors: signed, so that clients can't forge them.

A client that could compare ids with forged texts could read their times. The random bits of a
masked text determine the mask that is XORed with the time. So flipping a bit in the masked time
flips that bit of the time, and a binary search takes 48 comparisons.
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
    """The public text. A masked text is signed with its mask key, together with the column.

    A stored UUID of another version is written as it is; ``read`` refuses it.
    """
    text = field.public_text.format(value)
    if not field.masked or field.public_text.is_other_uuid(value):
        return text
    return f"{text}.{_signature(field, text, conf.mask_keys()[0])}"


def read(field: SortableIDField, signed: str) -> ID:
    """The value of a text from ``sign``; ``InvalidID`` for anything else.

    The signature identifies the key that masked the text: even with several, there is one value.
    """
    if not field.masked:
        return field.public_text.parse(signed)
    text, _, signature = signed.rpartition(".")
    for key in conf.mask_keys():
        if constant_time_compare(signature, _signature(field, text, key)):
            return field.public_text.parse_with(text, key)
    raise InvalidID("invalid signature: the text is of another column or key, or forged")


def _signature(field: SortableIDField, text: str, key: MaskKey) -> str:
    secret = f"{key.k0:016x}{key.k1:016x}"
    signed = salted_hmac(_SALT, f"{field} {text}", secret=secret, algorithm="sha256")
    return signed.hexdigest()[:_DIGITS]
