"""From a stored id to its tick: the whole number that counts time since the scheme's epoch."""

from collections.abc import Sequence
from typing import Any

from django.db import NotSupportedError
from django.db.models import BigIntegerField
from django.db.models.expressions import Expression

from ..fields import SortableIDField
from ..fields.storage import BinaryStorage, IntegerStorage, Storage, TextStorage
from ..schemes import TimeScheme
from ..schemes.text_forms import Digits, Groups, UUIDText
from .digits import IntegerOfDigits, LargeIntegerOfDigits
from .fragments import Fragment
from .hexadecimal import HexOfBytes, HexOfUUID, IntegerOfHex


class ShiftedRight(Fragment):
    """A number without its last ``bits`` bits, of which ``mask`` remains."""

    output_field = BigIntegerField()
    postgresql = sqlite = "(({0} >> {bits}) & {mask})"
    # Both operators give unsigned numbers there, and a difference below 0 would be an error.
    mysql = "CAST(({0} >> {bits}) & {mask} AS SIGNED)"


class Quotient(Fragment):
    """A number >= 0 divided by ``divisor``, without a remainder."""

    output_field = BigIntegerField()
    postgresql = sqlite = "({0} / {divisor})"
    mysql = "({0} DIV {divisor})"


class Complement(Fragment):
    """``last`` less a number."""

    output_field = BigIntegerField()
    postgresql = sqlite = mysql = "({last} - {0})"


def tick_of(column: Expression, field: SortableIDField, connection: Any) -> Expression:
    """The tick of the ids in a column of that field; NULL where the id is.

    Raises ``NotSupportedError`` where the database has no arithmetic for the column's text.
    """
    scheme = field.scheme
    assert isinstance(scheme, TimeScheme)
    counted = _counted(column, scheme, field.stored(connection), connection)
    return Complement(counted, last=scheme.layout.ticks - 1) if scheme.descending else counted


def _counted(
    column: Expression, scheme: TimeScheme, stored: Storage, connection: Any
) -> Expression:
    """The first part of the number: the tick, or what is left of all ticks."""
    match stored:
        case IntegerStorage():
            return _of_integer(column, scheme)
        case TextStorage(form=Groups(alphabet, groups)):
            return IntegerOfDigits(column, alphabet=alphabet, length=groups[0][0])
        case TextStorage(form=Digits() as form) if len(form.alphabet) != 16:
            return _of_digits(column, scheme, form, connection)
    positions = hex_positions(scheme)
    if isinstance(stored, BinaryStorage):
        digits: Expression = HexOfBytes(column, bytes=-(-positions[-1] // 2))
        return IntegerOfHex(digits, positions=positions, upper=True)
    if isinstance(stored, TextStorage):
        upper = isinstance(stored.form, Digits) and stored.form.alphabet[10] == "A"
        hyphens = isinstance(stored.form, UUIDText) and stored.form.hyphens
    elif connection.vendor == "postgresql":
        digits = HexOfUUID(column, bytes=-(-positions[-1] // 2))
        return IntegerOfHex(digits, positions=positions, upper=False)
    else:
        # MariaDB shows a uuid with hyphens, the others keep 32 characters.
        upper, hyphens = False, connection.features.has_native_uuid_field
    if hyphens:
        positions = [n + sum(n > end for end in (8, 12, 16, 20)) for n in positions]
    return IntegerOfHex(column, positions=positions, upper=upper)


def hex_positions(scheme: TimeScheme) -> Sequence[int]:
    """Which of an id's hexadecimal digits, counted from 1, hold the tick."""
    layout = scheme.layout
    every_tick = (1 << (layout.ticks - 1).bit_length()) - 1
    mask = layout.frame.wrap(every_tick * layout.tails) ^ layout.frame.wrap(0)
    digits = f"{mask:0{scheme.byte_length * 2}x}"
    return [position for position, digit in enumerate(digits, 1) if digit == "f"]


def _of_integer(column: Expression, scheme: TimeScheme) -> Expression:
    ticks, tails = scheme.layout.ticks, scheme.layout.tails
    if tails & (tails - 1):
        return Quotient(column, divisor=tails)
    mask = (1 << (ticks - 1).bit_length()) - 1
    return ShiftedRight(column, bits=tails.bit_length() - 1, mask=mask)


def _of_digits(column: Expression, scheme: TimeScheme, form: Digits, connection: Any) -> Expression:
    base, tails = len(form.alphabet), scheme.layout.tails
    if base & (base - 1):
        if connection.vendor == "sqlite":
            raise NotSupportedError(
                f"SQLite can't read the time of a {scheme.title} from its text, a number of "
                f"{scheme.bits} bits in base {base}: keep it as bytes, with storage='binary'"
            )
        return LargeIntegerOfDigits(
            column, alphabet=form.alphabet, length=form.length, divisor=tails
        )
    bits = base.bit_length() - 1
    behind = tails.bit_length() - 1
    length = form.length - behind // bits
    front = IntegerOfDigits(column, alphabet=form.alphabet, length=length)
    mask = (1 << (scheme.layout.ticks - 1).bit_length()) - 1
    return ShiftedRight(front, bits=behind % bits, mask=mask) if behind % bits else front
