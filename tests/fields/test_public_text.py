"""The public text of an id: prefix, separator and encoding."""

import re
import uuid

import pytest
from django.core.exceptions import ValidationError

from django_sortable_ids.fields import (
    CombV13UUIDField,
    KUUIDField,
    PushIDField,
    SnowflakeField,
    Time64Field,
    TSIDField,
    ULIDField,
    UUIDv7Field,
)
from django_sortable_ids.schemes import InvalidID, get
from tests.combinations import in_one_case
from tests.schemes.support import vectors
from tests.testapp.models import TSIDKey, TSIDKeyChild

EXAMPLE = "01KDVDNA00PVDPVDPVDPVDPVDM"
UUID = uuid.UUID("019b76da-a800-7b6d-adb6-db6db6db6db4")
TYPE_IDS = vectors("typeid")

# A field, a value and its public text.
TEXTS = {
    "ULID": (ULIDField(), EXAMPLE, EXAMPLE),
    "prefix": (ULIDField(prefix="ord"), EXAMPLE, f"ord_{EXAMPLE}"),
    "prefix of several words": (ULIDField(prefix="sales_order"), EXAMPLE, f"sales_order_{EXAMPLE}"),
    "colon": (ULIDField(prefix="ord", separator=":"), EXAMPLE, f"ord:{EXAMPLE}"),
    "UUID": (UUIDv7Field(), UUID, "019b76da-a800-7b6d-adb6-db6db6db6db4"),
    "hex": (UUIDv7Field(encoding="hex"), UUID, "019b76daa8007b6dadb6db6db6db6db4"),
    "TypeID": (
        UUIDv7Field(prefix="typeid", encoding="base32"),
        UUID,
        "typeid_01kdvdna00fdptvdpvdpvdpvdm",
    ),
    "base 58": (UUIDv7Field(encoding="base58"), UUID, "1CWfg49SfgszwjBcrPhonB"),
    "number": (SnowflakeField(), 2123982053468302428, "2123982053468302428"),
    "number and prefix": (SnowflakeField(prefix="t"), 2123982053468302428, "t_2123982053468302428"),
    "number in base 32": (SnowflakeField(encoding="base32"), 2**63 - 1, "7ZZZZZZZZZZZZ"),
    "number in base 64": (Time64Field(encoding="base64url"), 2**63 - 1, "f_________8"),
    "TSID": (TSIDField(), 38358284406638835, "01226N0640J7K"),
    "TSID in decimal": (TSIDField(encoding="decimal"), 38358284406638835, "38358284406638835"),
    "kuuid": (
        KUUIDField(prefix="order", separator=":"),
        "001xUbmv1tc1Go2H8WSh27gzbH2uiQuW",
        "order:001xUbmv1tc1Go2H8WSh27gzbH2uiQuW",
    ),
    "SQL Server": (
        CombV13UUIDField(encoding="sqlserver"),
        uuid.UUID("1e1624e75e1fd27fa11ded65de8970f6"),
        "7ff2e175-4e62-e111-a11d-ed65de8970f6",
    ),
}


each_text = in_one_case(("field", "value", "text"), TEXTS.values())


@each_text
def test_formatted_and_parsed(field, value, text):
    assert field.public_text.format(value) == text
    assert field.public_text.candidates(text) == (value,)
    assert field.parse_public(text) == value
    assert re.fullmatch(field.public_text.pattern, text)


@each_text
def test_python_takes_the_public_text_and_the_bare_one(field, value, text):
    assert field.to_python(text) == value
    assert field.to_python(value) == value
    assert field.to_python(field.scheme.format(value)) == value


@pytest.mark.parametrize("entry", TYPE_IDS["valid"], ids=lambda entry: entry["text"])
def test_type_ids(entry):
    """Their suffixes are UUIDs of any version, which the text form reads and the scheme doesn't."""
    public = UUIDv7Field(prefix=entry["prefix"] or None, encoding="base32").public_text
    form = public.scheme.text_form(public.encoding)
    number = uuid.UUID(entry["uuid"]).int
    assert public.full_prefix + form.format(number) == entry["text"]
    assert form.parse(entry["text"].removeprefix(public.full_prefix)) == number
    with pytest.raises(InvalidID, match="it is a UUID of version"):
        public.candidates(entry["text"])


@pytest.mark.parametrize("entry", TYPE_IDS["invalid"], ids=lambda entry: entry["reason"])
def test_type_ids_that_are_invalid(entry):
    """By their prefix, which no field can have, or by their suffix."""
    prefix, _, _ = entry["text"].rpartition("_")
    is_wrong = bool(UUIDv7Field(prefix=prefix, encoding="base32").wrong_options)
    prefix = "prefix" if is_wrong else prefix
    public = UUIDv7Field(prefix=prefix, encoding="base32").public_text
    with pytest.raises(InvalidID):
        public.candidates(entry["text"])


def test_previous_prefixes_are_read_and_not_written():
    field = ULIDField(prefix="ord", previous_prefixes=["order", "sale"])
    assert field.public_text.format(EXAMPLE) == f"ord_{EXAMPLE}"
    assert field.public_text.pattern == "ord_[0-9A-HJKMNP-TV-Z]{26}"
    for text in (f"ord_{EXAMPLE}", f"order_{EXAMPLE}", f"sale_{EXAMPLE.lower()}"):
        assert field.parse_public(text) == field.to_python(text) == EXAMPLE
    for text in (EXAMPLE, f"orders_{EXAMPLE}", f"order:{EXAMPLE}", f"order_ord_{EXAMPLE}"):
        with pytest.raises(ValidationError, match="Expected a text such as ord_"):
            field.parse_public(text)


def test_ids_that_had_no_prefix():
    field = ULIDField(prefix="ord", previous_prefixes=[""])
    assert field.parse_public(EXAMPLE) == field.parse_public(f"ord_{EXAMPLE}") == EXAMPLE


def test_a_prefix_that_is_the_beginning_of_another():
    """The characters after it may be those of an id."""
    push_id = "item_0123456789abcde"
    field = PushIDField(prefix="ord", previous_prefixes=["ord_item", "", "a"])
    assert field.parse_public(f"ord_{push_id}") == push_id
    assert field.parse_public(f"ord_item_{push_id}") == push_id
    assert field.parse_public(push_id) == push_id
    with pytest.raises(ValidationError):
        field.parse_public(f"ord_item_{push_id}x")


# Texts that are one id in digits and another one in the public encoding: both are looked up

DIGITS = "1234567890123"
SHOWN = get("tsid").parse(DIGITS, "base32")
"""The id that is shown so."""
NUMBER = int(DIGITS)
"""An id of the first hour of 2020."""


@pytest.mark.django_db
def test_the_row_that_exists_is_found():
    for value in (SHOWN, NUMBER):
        row = TSIDKey.objects.create(id=value)
        TSIDKeyChild.objects.create(parent=row)
        assert TSIDKey.objects.get(pk=DIGITS) == row
        assert TSIDKey.objects.filter(pk__in=[DIGITS, "x"]).get() == row
        assert TSIDKeyChild.objects.get(parent=DIGITS).parent == row
        assert not TSIDKey.objects.exclude(pk=DIGITS).exists()
        assert TSIDKey._meta.pk.to_python(DIGITS) == value
        row.delete()


@pytest.mark.django_db
def test_both_rows_are_found():
    rows = {TSIDKey.objects.create(id=value) for value in (SHOWN, NUMBER)}
    assert {*TSIDKey.objects.filter(pk=DIGITS)} == rows
    assert TSIDKey._meta.pk.to_python(DIGITS) == NUMBER


@pytest.mark.django_db
def test_the_public_text_is_never_ambiguous():
    TSIDKey.objects.create(id=NUMBER)
    field = TSIDKey._meta.pk
    assert field.parse_public(DIGITS) == SHOWN
    with pytest.raises(ValidationError):
        field.parse_public(str(get("tsid").example))


@pytest.mark.django_db
def test_decimal_digits_are_a_number():
    field = TSIDField(encoding="decimal")
    assert field.to_python(DIGITS) == field.parse_public(DIGITS) == NUMBER
    assert not field.public_text.is_ambiguous


@pytest.mark.django_db
def test_a_prefix_tells_them_apart():
    field = TSIDField(prefix="item")
    assert field.to_python(DIGITS) == NUMBER
    assert field.to_python(f"item_{DIGITS}") == SHOWN
    assert TSIDField(prefix="item", previous_prefixes=[""]).public_text.is_ambiguous
