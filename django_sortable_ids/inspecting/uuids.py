"""What any UUID says of itself: its version and its variant."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from ..schemes import UUIDText

_VERSIONS = {
    1: pgettext_lazy("sortable ids", "time and node"),
    2: pgettext_lazy("sortable ids", "DCE security"),
    3: _("MD5 of a name"),
    4: pgettext_lazy("sortable ids", "random"),
    5: _("SHA-1 of a name"),
    6: _("time and node, sorts by time"),
    7: _("Unix time in ms, sorts by time"),
    8: pgettext_lazy("sortable ids", "custom"),
}
_NOT_ASSIGNED = pgettext_lazy("sortable ids", "not assigned")
_WITHOUT_VERSION = {
    0: pgettext_lazy("sortable ids", "nil UUID"),
    (1 << 128) - 1: pgettext_lazy("sortable ids", "max UUID"),
}
RFC = "RFC 9562"
"""The variant of nearly all UUIDs."""


class UUIDFacts(NamedTuple):
    """The version and the variant of a UUID."""

    canonical: str
    version: int | None
    """None unless the variant is that of RFC 9562."""
    meaning: str | Promise
    """What the version means, or which UUID it is."""
    variant: str

    @property
    def in_words(self) -> str:
        """One sentence, in the language of the user."""
        if self.version is None:
            sentence = pgettext("sortable ids", "UUID: %(meaning)s, variant %(variant)s")
        else:
            sentence = gettext("UUID of version %(version)s: %(meaning)s, variant %(variant)s")
        return sentence % self._asdict()


def uuid_facts(number: int) -> UUIDFacts:
    """The facts of a UUID, given as a number of 128 bits."""
    canonical = UUIDText().format(number)
    top = number >> 61 & 0b111
    if number in _WITHOUT_VERSION:
        return UUIDFacts(canonical, None, _WITHOUT_VERSION[number], RFC)
    if top & 0b110 == 0b100:
        version = number >> 76 & 0xF
        return UUIDFacts(canonical, version, _VERSIONS.get(version, _NOT_ASSIGNED), RFC)
    reserved = pgettext("sortable ids", "future")
    variant = "NCS" if not top & 0b100 else "Microsoft" if top == 0b110 else reserved
    return UUIDFacts(canonical, None, _("not a UUID of RFC 9562"), variant)


def uuid_number(text: str) -> int | None:
    """The number of a UUID in hexadecimal, of any version; None for any other text."""
    try:
        return UUIDText().parse(text)
    except ValueError:
        return None
