"""Texts: what each encoding writes, what it reads, and that it reads nothing else."""

import re
import string
import uuid
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import InvalidID, get
from django_sortable_ids.schemes.encodings.text_forms import (
    Base64URL,
    Digits,
    SQLServerText,
    UUIDText,
)
from django_sortable_ids.schemes.sequence import SequenceText
from django_sortable_ids.schemes.sequence_template import TemplateText
from tests.combinations import in_one_case

from .support import ENCODINGS, SCHEMES, examples, is_refused, values, vectors

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
@examples
@given(data=st.data())
def test_what_is_written_is_read_back_and_any_other_text_refused(scheme, encoding, data):
    """Unless it is an accepted spelling."""
    value = data.draw(values(scheme))
    form, text = scheme.text_form(encoding), scheme.format(value, encoding)
    assert scheme.parse(text, encoding) == value
    assert re.fullmatch(form.pattern, text)
    assert len(text) <= form.length
    assert re.fullmatch("[0-9A-Za-z:._~-]+", text)
    check(scheme, encoding, data.draw(slips(text)))
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
    if scheme.time_ordered:
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


def test_encodings_of_the_rows():
    uuid_forms = ("canonical", "hex", "base32", "base36", "base58", "base62", "shortuuid")
    assert get("uuid7").encodings == get("uuid6").encodings == uuid_forms
    assert get("comb13").encodings == (*uuid_forms, "sqlserver")
    assert get("snowflake").encodings == ("decimal", "base62", "base32", "base64url")
    others = ("time64", "sonyflake", "tsid", "discord", "instagram", "mastodon", "unique_rowid")
    assert {get(name).encodings for name in others} == {get("snowflake").encodings}
    texts = {"ulid", "hexulid", "ksuid", "xid", "objectid", "pushid", "timeflake", "scru128"}
    assert {get(name).encodings for name in texts} == {("canonical",)}


# Short texts of UUIDs


@in_one_case("vector", vectors("short_uuids")["texts"])
def test_short_uuids(vector):
    number = uuid.UUID(vector["uuid"]).int
    for encoding, text in vector["encodings"].items():
        form = get("uuid7").text_form(encoding)
        assert form.format(number) == text
        assert form.parse(text) == number
        assert len(text) == form.length


@pytest.mark.parametrize("scheme", [get("uuid6"), get("uuid7"), get("comb13")])
def test_invalid_short_uuids(scheme):
    entries = vectors("short_uuids")["invalid"]
    assert [entry for entry in entries if not is_refused(scheme, entry)] == []


def test_a_short_uuid_of_another_version_is_refused():
    version_6 = [
        spelling
        for vector in vectors("short_uuids")["texts"]
        if vector["uuid"] == "1ec9414c-232a-6b00-b3c8-9f6bdeced846"
        for spelling in vector["encodings"].items()
    ]
    assert len(version_6) == 5
    for encoding, text in version_6:
        assert get("uuid6").format(get("uuid6").parse(text, encoding), encoding) == text
        with pytest.raises(InvalidID, match="it is a UUID of version 6, not 7"):
            get("uuid7").parse(text, encoding)


# Short texts of 64-bit numbers


@pytest.mark.parametrize("name", ["snowflake", "time64"])
def test_base32_of_a_number_is_read_in_any_case(name):
    scheme = get(name)
    text = scheme.format(scheme.example, "base32")
    assert text == text.upper()
    assert scheme.parse(text.lower(), "base32") == scheme.example
    for wrong in "ILOU":
        with pytest.raises(InvalidID, match=f"'{wrong}' is not one of its characters"):
            scheme.parse(text[:-1] + wrong, "base32")


@pytest.mark.parametrize("encoding", ["base62", "base32", "base64url"])
def test_texts_of_numbers_past_63_bits_are_refused(encoding):
    scheme = get("snowflake")
    form = scheme.text_form(encoding)
    largest = 2**63 - 1
    assert scheme.parse(form.format(largest), encoding) == largest
    for number in (2**63, 2**64 - 1):
        with pytest.raises(InvalidID):
            scheme.parse(form.format(number), encoding)


# SQL Server


def sort_key(text):
    """The bytes in SQL Server's comparison order: 10 to 15, then 8 and 9, then 7 down to 0."""
    shown = UUIDText().parse(text).to_bytes(16, "big")
    return shown[10:] + shown[8:10] + shown[7::-1]


@in_one_case("vector", vectors("sqlserver_order")["sort_keys"])
def test_sql_server_sort_key(vector):
    assert sort_key(vector["text"]).hex() == vector["key"]
    assert sort_key(vector["text"].upper()).hex() == vector["key"]


def test_a_stored_prefix_is_the_beginning_of_every_id():
    users, orders = (get("kuuid", stored_prefix=prefix) for prefix in ("user:", "order:"))
    at = datetime(2018, 2, 1, tzinfo=UTC)
    ids = [users.generate(at), orders.generate(at + timedelta(days=1)), orders.generate(at)]
    assert sorted(ids) == [ids[2], ids[1], ids[0]], "by type, and then by time"
    assert users.prefix(at) == "user:001eh2IK"
    bare = get("kuuid")
    assert users.parse(ids[0]) == ids[0] == f"user:{bare.from_int(users.to_int(ids[0]))}"
    for wrong in (ids[1], ids[0].removeprefix("user:"), ids[0].upper(), "user:"):
        with pytest.raises(InvalidID, match="Expected “user:” and 32 characters of 0-9A-Za-z"):
            users.parse(wrong)
