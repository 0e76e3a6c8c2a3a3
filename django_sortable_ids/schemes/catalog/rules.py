"""The rules by which Python and the SQL of every database can generate, read and sort a scheme."""

import re
import uuid
from datetime import UTC, datetime
from fractions import Fraction
from math import prod

from ..alphabets import UNRESERVED
from ..clock_and_randomness import unix_ns
from ..layout import PLAIN, UUIDTemplate
from ..text_forms import Digits, Groups, TextForm
from ..time_scheme import TimeScheme

_BITS = {int: range(8, 65), str: range(8, 193), uuid.UUID: range(128, 129)}
"""A bigint has 64; a DECIMAL(60) of MariaDB and MySQL, with which texts are read, has 199."""
_MOST_BITS = {int: 63, uuid.UUID: 122}
"""How many bits may vary: a bigint has a sign, a UUID its version and variant."""
_WORD = 1 << 63
_FIRST_NS, _LAST_DAY = unix_ns(datetime.min.replace(tzinfo=UTC)), datetime(9999, 12, 31, tzinfo=UTC)


def problem(scheme: TimeScheme) -> str | None:
    """The first thing that is wrong with a scheme; None if nothing is."""
    if not re.fullmatch("[a-z][a-z0-9_]*", scheme.name) or not scheme.title:
        return "expected a name of a-z, 0-9 and _ that begins with a letter, and a title"
    if scheme.bits not in _BITS.get(scheme.value_type, ()):
        return "expected an int of 8 to 64 bits, a str of 8 to 192, or a uuid.UUID of 128"
    if (scheme.worker, scheme.layout.set_bit, scheme.accepts_other_versions) != (None, None, False):
        return "leave out worker, set_bit and accepts_other_versions"
    return _layout_problem(scheme) or _time_problem(scheme) or _text_problem(scheme)


def _layout_problem(scheme: TimeScheme) -> str | None:
    layout, is_uuid = scheme.layout, scheme.value_type is uuid.UUID
    ticks, suffixes, template = layout.ticks, layout.suffixes, layout.template
    size, bits = ticks * suffixes, min(scheme.bits, _MOST_BITS.get(scheme.value_type, scheme.bits))
    if ticks < 1 or suffixes < 2 or min(size - 1, layout.last) >> bits:
        return f"{ticks=}, {suffixes=}: expected 1 and 2 or more, together at most {bits} bits"
    if layout.workers is not None and (layout.workers < 2 or suffixes % layout.workers):
        return f"workers={layout.workers}: expected 2 or more, and a divisor of {suffixes}"
    if scheme.suffix_parts and prod(part.size for part in scheme.suffix_parts) != suffixes:
        return f"suffix_parts: their sizes don't have the product {suffixes}"
    whole = (layout.smallest, layout.last) == (0, size - 1)
    if not 0 <= layout.smallest <= layout.last < size or (layout.descending and not whole):
        return f"smallest and largest: expected 0 to {size - 1}, and neither if it is descending"
    if isinstance(template, UUIDTemplate) != is_uuid or template.version not in (None, *range(16)):
        return "template: a uuid.UUID needs a UUIDTemplate of a version from 1 to 15, others none"
    return None if is_uuid or template is PLAIN else "template: leave it out"


def _time_problem(scheme: TimeScheme) -> str | None:
    tick_ns, epoch_ns = scheme.tick_ns, scheme.epoch_ns
    start, last = epoch_ns + scheme.layout.first_tick * tick_ns, unix_ns(_LAST_DAY)
    if tick_ns < 1 or epoch_ns % 1000 or not _FIRST_NS <= epoch_ns <= start < last:
        return (
            f"{tick_ns=}, {epoch_ns=}: expected 1 or more, and whole microseconds of the years 1 "
            f"to 9999, in which its first tick starts, too"
        )
    elapsed, ratio = (unix_ns(scheme.latest) - epoch_ns) // 1000, Fraction(tick_ns, 1000)
    ticks = scheme.tick(scheme.latest)
    too_many = max(elapsed * ratio.denominator, ticks * ratio.numerator, ticks) >= _WORD
    ends = scheme.descending or scheme.latest < _LAST_DAY
    if too_many or (scheme.layout.ticks > _WORD and ends):
        return f"{tick_ns=}: databases calculate in 63 bits; choose fewer ticks, or longer ones"
    return None


def _text_problem(scheme: TimeScheme) -> str | None:
    names, suffixes = scheme.encodings, scheme.layout.suffixes
    if not names or len(set(names)) != len(names):
        return f"text_forms of {names}: expected one or more, each with its own name"
    for name, form in scheme.text_forms:
        if isinstance(form, Digits):
            characters = form.alphabet
            is_folded = form.fold is None or getattr(characters, form.fold)() == characters
            # RFC 3986, section 2.3: these need no escaping in a URL, nor in SQL.
            safe = set(characters) & set(UNRESERVED)
            if not (is_folded and 2 <= len(safe) == len(characters) <= 64):
                return (
                    f"text form {name!r}: expected 2 to 64 of ASCII letters, digits and -._~, each "
                    f"once; and of one case, if it folds"
                )
        if isinstance(form, Groups) or not _is_written(scheme, form):
            return f"text form {name!r}: it can't write and read each of the ids in 255 characters"
    if scheme.value_type is not int and suffixes & (suffixes - 1):
        digits = scheme.canonical if isinstance(scheme.canonical, Digits) else None
        if not (scheme.stored_as_text and digits and digits.count_of_last(suffixes)):
            return (
                f"{suffixes=}: expected a power of 2; or, with stored_as_text=True, a power of the "
                f"number of characters in the alphabet"
            )
    if scheme.value_type is str and not scheme.canonical.keeps_order:
        return f"text form {names[0]!r}: the value doesn't sort like the number; sort its alphabet"
    return None


def _is_written(scheme: TimeScheme, form: TextForm) -> bool:
    """Whether the form reads what it writes, in URLs too."""
    layout = scheme.layout
    suffix = layout.capacity(layout.first_tick) // 7 * 5
    for number in (*scheme.whole_range, layout.join(layout.first_tick, suffix)):
        try:
            text = form.format(number)
            is_read = form.parse(text) == number
        except (IndexError, OverflowError, ValueError):
            return False
        is_fit = len(text) <= form.length <= 255 and not set(text) - set(UNRESERVED + ":")
        if not (is_read and is_fit and re.fullmatch(form.pattern, text)):
            return False
    return True
