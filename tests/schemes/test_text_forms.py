"""Texts: what each encoding writes, what it reads, and that it reads nothing else."""

import random
import re
import string
import uuid
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from django_sortable_ids.schemes import InvalidID, TimeScheme, get
from django_sortable_ids.schemes.alphabets import BASE36_LOWER, BASE58, BASE62
from django_sortable_ids.schemes.catalog.sequence import SequenceText, TemplateText
from django_sortable_ids.schemes.text_forms import (
    Base64URL,
    Digits,
    SQLServerText,
    UUIDText,
)
from tests.combinations import in_one_case

from .support import ENCODINGS, SCHEMES, SORTING_SCHEMES, is_refused, some_values, vectors

ARABIC_DIGITS = str.maketrans(string.digits, "".join(map(chr, range(0x660, 0x66A))))
FULL_WIDTH = {character: character + 0xFEE0 for character in range(0x21, 0x7F)}
LOOK_ALIKES = "\u0660\u0661\u07c0\u0967\uff10\uff11\uff21\uff41\u017f\u212a\u0130\u0131\u2212\u2013"
NOISE = "\x00\n\r\t \u00a0\u200b\ufeff\ud800"


def is_accepted(form, text, canonical):
    """Whether ``text`` is a documented spelling of ``canonical``, worked out independently."""
    if text == canonical:
        return True
    if isinstance(form, Base64URL):
        return text == canonical + "=" * (-len(canonical) % 4)
    if not text.isascii():
        return False
    if isinstance(form, UUIDText | SQLServerText):
        plain = canonical.replace("-", "")
        full = str(uuid.UUID(plain))
        return text.lower() in (plain, full, f"{{{full}}}", f"urn:uuid:{full}")
    if isinstance(form, Digits) and form.fold:
        folded = text.upper() if form.fold == "upper" else text.lower()
        aliases = "".join(form.aliases)
        return folded == canonical or (
            aliases == "ILO110"
            and folded.replace("I", "1").replace("L", "1").replace("O", "0") == canonical
        )
    if isinstance(form, TemplateText):
        return form.ignore_case and text.upper() == canonical.upper()
    if isinstance(form, SequenceText) and form.numeration.ignore_case:
        return text.upper() == canonical.upper()
    return False


def check(scheme, encoding, text):
    """``text`` is refused, or it is an accepted spelling of what it gives."""
    try:
        value = scheme.parse(text, encoding)
    except InvalidID:
        return
    canonical = scheme.format(value, encoding)
    assert is_accepted(scheme.text_form(encoding), text, canonical)


@st.composite
def slips(draw, text):
    """``text`` with one character changed, inserted or removed, or its case changed."""
    place = draw(st.integers(0, len(text)))
    new = draw(
        st.sampled_from(string.printable) | st.sampled_from(LOOK_ALIKES + NOISE) | st.characters()
    )
    return draw(
        st.sampled_from(
            [
                text[:place] + new + text[place:],
                text[:place] + new + text[place + 1 :],
                text[:place] + text[place + 1 :],
                text[:place].upper() + text[place:].lower(),
                text[:place].lower() + text[place:].upper(),
            ]
        )
    )


@in_one_case(("scheme", "encoding"), ENCODINGS)
def test_what_is_written_is_read_back(scheme, encoding):
    form, made = scheme.text_form(encoding), some_values(scheme)
    texts = [scheme.format(value, encoding) for value in made]
    assert [scheme.parse(text, encoding) for text in texts] == made
    assert form.format_all(list(map(scheme.to_int, made))) == texts
    for text in texts:
        assert re.fullmatch(form.pattern, text)
        assert len(text) <= form.length
        assert re.fullmatch("[0-9A-Za-z:._~-]+", text)


@in_one_case(("alphabet", "length"), [(BASE62, 27), (BASE58, 22), (BASE36_LOWER, 25), (BASE62, 5)])
def test_digits_are_those_of_the_number_whatever_was_written_before(alphabet, length):
    """The digits before the last 12 are remembered from number to number."""
    base, form = len(alphabet), Digits(alphabet, length)
    steps = {base**power + change for power in range(length + 1) for change in (-1, 0, 1)}
    numbers = [number for number in steps if 0 <= number < base**length] * 3
    random.Random(1).shuffle(numbers)

    def digits(number):
        return "".join(alphabet[number // base**place % base] for place in range(length))[::-1]

    assert form.format_all(numbers) == list(map(digits, numbers))


@settings(max_examples=150)
@given(data=st.data())
def test_any_other_text_is_refused(data):
    """Unless it is an accepted spelling."""
    scheme, encoding = data.draw(st.sampled_from([param.values for param in ENCODINGS]))
    form, value = scheme.text_form(encoding), data.draw(st.sampled_from(some_values(scheme)))
    check(scheme, encoding, data.draw(slips(scheme.format(value, encoding))))
    characters = string.digits + string.ascii_letters + "-_="
    right_size = st.text(characters, min_size=form.length, max_size=form.length)
    check(scheme, encoding, data.draw(st.text() | right_size))


@in_one_case(("scheme", "encoding"), ENCODINGS)
def test_what_is_nearly_an_id_is_refused(scheme, encoding):
    """What ``int`` and ``UUID`` would take, look-alikes of any character, and what is no text."""
    text = scheme.format(scheme.example, encoding)
    wrong = [
        "",
        f"{text}\n",
        f" {text}",
        f"{text} ",
        f"\t{text}",
        f"+{text}",
        f"-{text}",
        f"{text[:1]}_{text[1:]}",
        f"{text}\x00",
        text * 1000,
        "0" * 100_000,
        text.translate(FULL_WIDTH),
    ]
    if isinstance(scheme, TimeScheme):
        wrong.append(f"0x{text}")
    if any(character.isdigit() for character in text):
        wrong.append(text.translate(ARABIC_DIGITS))
    for refused in wrong:
        with pytest.raises(InvalidID):
            scheme.parse(refused, encoding)
    for place, alike in product(range(len(text)), LOOK_ALIKES):
        with pytest.raises(InvalidID):
            scheme.parse(text[:place] + alike + text[place + 1 :], encoding)
    for wrong in (None, 5, 5.0, True, text.encode(), bytearray(text.encode()), [text], object()):
        with pytest.raises(InvalidID, match="it is not text"):
            scheme.parse(wrong, encoding)


@in_one_case("scheme", SCHEMES)
def test_the_first_encoding_is_the_canonical_one_and_unknown_ones_are_refused(scheme):
    first = scheme.encodings[0]
    assert scheme.text_form() is scheme.text_form(first) is scheme.canonical
    assert scheme.format(scheme.example) == scheme.format(scheme.example, first)
    with pytest.raises(LookupError, match="has no encoding 'base1'; it"):
        scheme.text_form("base1")
    with pytest.raises(LookupError):
        scheme.parse("", "base1")
    with pytest.raises(LookupError):
        scheme.format(scheme.example, "base1")


# Short texts of UUIDs


@in_one_case("vector", vectors("short_uuids")["texts"])
def test_short_uuids(vector):
    number = uuid.UUID(vector["uuid"]).int
    for encoding, text in vector["encodings"].items():
        form = get("uuid7").text_form(encoding)
        assert form.format(number) == text
        assert form.parse(text) == number
        assert len(text) == form.length


@in_one_case("scheme", [get("uuid6"), get("uuid7"), get("comb13")])
def test_invalid_short_uuids(scheme):
    entries = vectors("short_uuids")["invalid"]
    assert [entry for entry in entries if not is_refused(scheme, entry)] == []


# What refusals say: what was found, what was expected, and an example.


def refusal(scheme, text, encoding=None):
    with pytest.raises(InvalidID) as caught:
        scheme.parse(text, encoding)
    return str(caught.value)


@in_one_case(("scheme", "encoding"), ENCODINGS)
def test_found_expected_and_example(scheme, encoding):
    message = refusal(scheme, "no id!", encoding)
    example = scheme.format(scheme.example, encoding)
    assert message.startswith(f"'no id!' is not a valid {scheme.title}: ")
    expected = scheme.text_form(encoding).expected
    assert message.endswith(f". Expected {expected}, such as {example}.")
    assert scheme.parse(example, encoding) == scheme.example
    assert scheme.holds(scheme.to_int(scheme.example))


@in_one_case("scheme", SCHEMES)
def test_one_line_of_any_input_and_always_the_same_example(scheme):
    assert scheme.example == replace(scheme).example
    message = refusal(scheme, "x" * 100_000)
    assert len(message) < 400
    assert message.startswith("'" + "x" * 79 + "... is not a valid")
    assert "\n" not in refusal(scheme, "a\n" * 5)
    assert "\n" not in refusal(scheme, "a\n" * 5000)


VERSION_1 = "75e1f27f-624e-11e1-a11d-ed65de8970f6"


@in_one_case(
    ("name", "text", "reason"),
    [
        ("uuid7", "x", "it is not a UUID in hexadecimal"),
        ("uuid7", "1ec9414c-232a-6b00-b3c8-9f6bdeced846", "it is a UUID of version 6, not 7"),
        ("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FA", "it has 25 characters, not 26"),
        ("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "'U' is not one of its characters"),
        ("ulid", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "it is out of the scheme's range"),
        ("kuuid", "001fgS7kzzzzzz000000000000000000", "'zzzzzz' is more than 32 bits can hold"),
        ("snowflake", "-1", "it is not a plain decimal number of that size"),
        ("time64", "0679261771328879830", "it is not a plain decimal number of that size"),
        ("time64 base64url", "F03vrxTzfNZ", "its last character has bits beyond the last byte"),
        ("time64 base64url", "F03vrxTzfN", "it has 10 characters, not 11"),
        ("time64 base62", "zzzzzzzzzzz", "it is out of the scheme's range"),
        ("comb13 sqlserver", VERSION_1, "it is not a version 1 UUID in SQL Server's byte order"),
        ("lexical_sequence", "A B", "' ' is not one of its characters"),
        ("lexical_sequence", "A" * 21, "it has 21 characters"),
    ],
)
def test_reasons(name, text, reason):
    name, *encoding = name.split()
    assert f": {reason}. Expected " in refusal(get(name), text, *encoding)


# Values, numbers and bytes: round trips, and refusals


@in_one_case("scheme", SCHEMES)
def test_numbers_and_bytes_round_trip(scheme):
    for value in some_values(scheme):
        assert type(value) is scheme.value_type
        assert scheme.from_int(scheme.to_int(value)) == value
        packed = scheme.to_bytes(value)
        assert len(packed) == scheme.byte_length
        assert int.from_bytes(packed, "big") == scheme.to_int(value)
        assert scheme.from_bytes(packed) == value


@in_one_case("scheme", SCHEMES)
def test_from_int_refuses_what_is_no_number_of_the_scheme(scheme):
    for wrong in (-1, 1 << 1000, True, False, None, 1.0, "1", b"1"):
        with pytest.raises(InvalidID):
            scheme.from_int(wrong)
    # A right number with bits above, and one that is too long to print.
    for shift in range(scheme.bits, scheme.bits + 40):
        with pytest.raises(InvalidID):
            scheme.from_int(scheme.to_int(scheme.example) | 1 << shift)
    with pytest.raises(InvalidID):
        scheme.from_int(1 << 100_000)


@in_one_case("scheme", SCHEMES)
def test_what_is_no_value_is_refused(scheme):
    for wrong in (None, True, 1.5, b"1", object(), [], -1, 1 << 64, "", "!", uuid.UUID(int=0)):
        with pytest.raises(InvalidID):
            scheme.to_int(wrong)
    with pytest.raises(InvalidID):
        scheme.format(None)
    with pytest.raises(InvalidID):
        scheme.to_bytes(None)


@in_one_case("scheme", SCHEMES)
def test_bytes(scheme):
    """Of another length are refused, as what is no bytes; a database may give another kind."""
    assert scheme.byte_length * 8 - 8 < scheme.bits <= scheme.byte_length * 8
    packed = scheme.to_bytes(scheme.example)
    for wrong in (b"", packed[1:], packed + b"\0", b"\0" + packed):
        with pytest.raises(InvalidID, match=f"has {scheme.byte_length} bytes, found {len(wrong)}"):
            scheme.from_bytes(wrong)
    for wrong in (None, "x" * scheme.byte_length, [0] * scheme.byte_length, 1):
        with pytest.raises(InvalidID):
            scheme.from_bytes(wrong)
    assert scheme.from_bytes(bytearray(packed)) == scheme.example
    assert scheme.from_bytes(memoryview(packed)) == scheme.example


@in_one_case("scheme", [s for s in SCHEMES if s.values[0].value_type is uuid.UUID])
def test_every_wrong_version_and_variant_is_refused(scheme):
    number = scheme.to_int(scheme.example)
    for wrong in range(1, 16):
        with pytest.raises(InvalidID):
            scheme.from_int(number ^ wrong << 76)
    for wrong in range(1, 4):
        with pytest.raises(InvalidID):
            scheme.from_int(number ^ wrong << 62)


# Order: of values, numbers, bytes and texts; and of time.


KEEPING = [p for p in ENCODINGS if p.values[0].text_form(p.values[1]).keeps_order]


@in_one_case("scheme", SCHEMES)
def test_values_and_bytes_sort_as_numbers(scheme):
    made = some_values(scheme)
    in_order = sorted(made, key=scheme.to_int)
    assert sorted(made, key=scheme.to_bytes) == in_order
    # The texts of a sequence that grows sort by length first.
    if scheme.canonical.keeps_order or scheme.value_type is not str:
        assert sorted(made) == in_order


@in_one_case(("scheme", "encoding"), KEEPING)
def test_texts_that_keep_order_do(scheme, encoding):
    made = some_values(scheme)
    by_text = sorted(made, key=lambda value: scheme.format(value, encoding))
    assert by_text == sorted(made, key=scheme.to_int)


@in_one_case("scheme", SORTING_SCHEMES)
def test_values_sort_by_time(scheme):
    made = some_values(scheme, shown=True)
    assert sorted(made, reverse=scheme.descending) == made
    times = list(map(scheme.created_at, made))
    assert sorted(times) == times
