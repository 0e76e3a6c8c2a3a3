"""What a scheme must be so that Python and the SQL of every database generate, read and sort it."""

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from math import prod

from ..encodings.alphabets import UNRESERVED
from ..encodings.text_forms import Digits, Groups, Prefixed, TextForm
from ..generation.clock import unix_ns
from ..layout import PLAIN, UUIDTemplate
from ..time_scheme import TimeScheme

_BITS = {int: range(8, 65), str: range(8, 193), uuid.UUID: range(128, 129)}
"""A bigint has 64; a DECIMAL(60) of MariaDB and MySQL, with which texts are read, has 199."""

_WORD = 1 << 63
_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)


def problems(scheme: TimeScheme) -> Iterator[str]:
    """What is wrong with a scheme; of each part the first thing."""
    for part in (_identity, _layout, _times, _text_forms, _round_trips):
        found = list(part(scheme))
        yield from found
        if found:
            return  # The parts after it can't be judged.


def _identity(scheme: TimeScheme) -> Iterator[str]:
    if not re.fullmatch("[a-z][a-z0-9_]*", scheme.name):
        yield f"name={scheme.name!r}: expected a-z, 0-9 and _, beginning with a letter"
    if not scheme.title:
        yield "title='': expected a name for messages"
    if scheme.value_type not in _BITS:
        yield f"value_type={scheme.value_type!r}: expected str, int or uuid.UUID"
    elif scheme.bits not in (allowed := _BITS[scheme.value_type]):
        yield f"bits={scheme.bits}: expected {_span(allowed)} for {scheme.value_type.__name__}"
    if scheme.worker is not None or scheme.accepts_other_versions:
        yield "worker and accepts_other_versions: leave them out, the field sets them"
    if scheme.node is not None:
        yield f"node={scheme.node!r}: leave it out, only UUIDv6 and COMB UUIDs have one"


def _layout(scheme: TimeScheme) -> Iterator[str]:
    layout = scheme.layout
    if layout.ticks < 1 or layout.suffixes < 2:
        yield f"ticks={layout.ticks}, suffixes={layout.suffixes}: expected 1 and 2 or more"
        return
    size = layout.ticks * layout.suffixes
    if layout.workers is not None and not (
        2 <= layout.workers <= layout.suffixes and layout.suffixes % layout.workers == 0
    ):
        yield f"workers={layout.workers}: expected 2 or more, and a divisor of {layout.suffixes}"
    if scheme.suffix_parts and prod(part.size for part in scheme.suffix_parts) != layout.suffixes:
        yield f"suffix_parts: their sizes don't have the product {layout.suffixes}"
    if layout.set_bit is not None:
        yield f"set_bit={layout.set_bit}: leave it out, only nodes of UUIDs have one"
    if not 0 <= layout.smallest <= layout.last < size:
        yield f"smallest={layout.smallest}, largest={layout.last}: expected 0 to {size - 1}"
    elif layout.descending and (layout.smallest, layout.last) != (0, size - 1):
        yield "descending=True: leave out smallest and largest"
    if scheme.value_type is uuid.UUID:
        yield from _uuid_layout(scheme)
        return
    if layout.template is not PLAIN:
        yield f"template={layout.template!r}: only a value_type of uuid.UUID has one"
    elif (size - 1).bit_length() > scheme.bits:
        needed = (size - 1).bit_length()
        yield f"bits={scheme.bits}: ticks and suffixes of the layout need {needed}"


def _uuid_layout(scheme: TimeScheme) -> Iterator[str]:
    layout = scheme.layout
    if not isinstance(layout.template, UUIDTemplate) or layout.template.version not in range(1, 16):
        yield (
            f"template={layout.template!r}: a value_type of uuid.UUID needs a UUIDTemplate of a "
            f"version from 1 to 15, such as UUIDTemplate(8), the one for own layouts"
        )
    if layout.ticks * layout.suffixes > 1 << 122:
        yield (
            f"ticks={layout.ticks}, suffixes={layout.suffixes}: a UUID has 122 bits besides its "
            f"version and variant"
        )


def _times(scheme: TimeScheme) -> Iterator[str]:
    if scheme.tick_ns < 1:
        yield f"tick_ns={scheme.tick_ns}: expected 1 or more"
        return
    first, last = unix_ns(datetime.min.replace(tzinfo=UTC)), unix_ns(_LAST_DAY)
    if scheme.epoch_ns % 1000 or not first <= scheme.epoch_ns < last:
        yield (
            f"epoch_ns={scheme.epoch_ns}: expected whole microseconds, and a Unix time of the "
            f"years 1 to 9999"
        )
        return
    start = scheme.epoch_ns + scheme.layout.first_tick * scheme.tick_ns
    if start >= last:
        yield "its first tick is after the year 9999"
        return
    elapsed, ratio = unix_ns(scheme.latest) // 1000, Fraction(scheme.tick_ns, 1000)
    elapsed -= scheme.epoch_ns // 1000
    ticks = scheme.tick(scheme.latest)
    if max(elapsed * ratio.denominator, ticks * ratio.numerator, ticks) >= _WORD:
        yield (
            f"tick_ns={scheme.tick_ns}: databases calculate its times until "
            f"{scheme.latest.isoformat()} in 63 bits, which is too few; choose fewer ticks, "
            f"or longer ones"
        )
    elif scheme.layout.ticks > _WORD and (scheme.descending or scheme.latest < _LAST_DAY):
        yield f"ticks={scheme.layout.ticks}: expected at most 2 ** 63"


def _text_forms(scheme: TimeScheme) -> Iterator[str]:
    names = scheme.encodings
    if not names or len(set(names)) != len(names):
        yield f"text_forms of {names}: expected one or more, each with its own name"
        return
    for name, form in scheme.text_forms:
        yield from (f"text form {name!r}: {each}" for each in _form(scheme, form))
    suffixes, canonical = scheme.layout.suffixes, scheme.canonical
    if isinstance(canonical, Prefixed):
        canonical = canonical.form
    if scheme.value_type is not int and suffixes & (suffixes - 1):
        digits = canonical if isinstance(canonical, Digits) else None
        if not (scheme.stored_as_text and digits and digits.count_of_last(suffixes)):
            yield (
                f"suffixes={suffixes}: expected a power of 2; or, with stored_as_text=True, a "
                f"power of the number of characters in the alphabet"
            )
    if scheme.value_type is str and not scheme.canonical.keeps_order:
        yield f"text form {names[0]!r}: the value doesn't sort like the number; sort its alphabet"


def _form(scheme: TimeScheme, form: TextForm) -> Iterator[str]:
    if isinstance(form, Prefixed):
        if not form.prefix or set(form.prefix) - set(UNRESERVED + ":"):
            yield f"prefix={form.prefix!r}: expected ASCII letters, digits and -._~:"
        yield from _form(scheme, form.form)
    if isinstance(form, Digits | Groups):
        yield from _alphabet(form.alphabet)
    if isinstance(form, Groups):
        yield from _groups(scheme, form)
    elif isinstance(form, Digits):
        if form.fold and getattr(form.alphabet, form.fold)() != form.alphabet:
            yield f"fold={form.fold!r}: {form.alphabet!r} has characters of the other case"
        largest = scheme.whole_range[1] << form.padding
        if largest >= len(form.alphabet) ** form.length:
            yield f"{form.length} digits can't hold {scheme.bits} bits"
    if form.length > 255:
        yield f"length={form.length}: expected at most 255"


def _alphabet(alphabet: str) -> Iterator[str]:
    if not 2 <= len(alphabet) <= 64 or len(set(alphabet)) != len(alphabet):
        yield f"{alphabet!r} is no alphabet: expected 2 to 64 characters, each once"
    elif not set(alphabet) <= set(UNRESERVED):
        # RFC 3986, section 2.3: these characters need no escaping in a URL, nor in SQL.
        yield f"{alphabet!r}: expected only ASCII letters, digits and -._~"


def _groups(scheme: TimeScheme, form: Groups) -> Iterator[str]:
    base, layout = len(form.alphabet), scheme.layout
    (length, bits), *others = form.groups
    if bits + sum(each for _, each in others) != scheme.bits:
        yield f"its groups don't have {scheme.bits} bits together"
    if layout.ticks > min(1 << bits, base**length) or base**length >= _WORD:
        yield f"the first group can't hold {layout.ticks} ticks, or not in 63 bits"
    if layout.suffixes != 1 << sum(each for _, each in others) or not others:
        yield f"the groups after the first don't have {layout.suffixes} suffixes"
    for length, bits in others:
        if not base ** (length - 1) < 1 << bits <= base**length:
            yield f"a group of {bits} bits can't have {length} characters"


def _span(allowed: range) -> str:
    first, last = allowed[0], allowed[-1]
    return f"{first}" if first == last else f"{first} to {last}"


def _round_trips(scheme: TimeScheme) -> Iterator[str]:
    """Whether ids are read as they are written, in every text form."""
    for name, form in scheme.text_forms:
        for number in (*scheme.whole_range, scheme.to_int(scheme.example)):
            try:
                text = form.format(number)
                is_same = form.parse(text) == number
            except (OverflowError, ValueError) as error:
                yield f"text form {name!r}: it can't write and read the number {number}: {error}"
                break
            if not (is_same and len(text) <= form.length and re.fullmatch(form.pattern, text)):
                yield f"text form {name!r}: {text!r} is not read back, or not as it says"
                break
