"""``masked=True``: the public text hides the time, and only the public text."""

import uuid

import pytest
from django.core.exceptions import ImproperlyConfigured, ValidationError

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.schemes import get
from tests.combinations import in_one_case
from tests.masks import facade

KEY = "0123456789abcdeffedcba9876543210"
OTHER = "f0debc9a785634121032547698badcfe"
V7 = uuid.UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
FACADE = uuid.UUID("ff86d1d8-79db-4cc3-98c4-dc0c0c07398f")
MASKED = UUIDv7Field(masked=True)


@pytest.fixture(autouse=True)
def mask_keys(settings):
    settings.SORTABLE_IDS = {"MASK_KEYS": [KEY]}


def use(settings, *keys):
    settings.SORTABLE_IDS = {"MASK_KEYS": list(keys)}


def test_the_public_text_is_the_facade():
    assert MASKED.public_text.format(V7) == str(FACADE)
    assert MASKED.parse_public(str(FACADE)) == V7
    assert MASKED.to_python(str(FACADE)) == MASKED.to_python(str(V7)) == MASKED.to_python(V7) == V7


@in_one_case("encoding", get("uuid7").encodings)
def test_it_goes_with_every_encoding_and_with_a_prefix(encoding):
    field = UUIDv7Field(masked=True, prefix="ord", encoding=encoding)
    number = get("uuid7").text_form(encoding).format(FACADE.int)
    assert field.public_text.format(V7) == f"ord_{number}"
    assert field.parse_public(f"ord_{number}") == V7


@in_one_case("field", [MASKED, UUIDv7Field(masked=True, encoding="base62")])
def test_the_value_behind_it_is_not_a_public_text(field):
    version_1 = uuid.UUID("75e1f27f-624e-11e1-a11d-ed65de8970f6")
    form = field.scheme.text_form(field.public_text.encoding)
    wrong = [form.format(V7.int), form.format(version_1.int), "", "z" * 22, None, V7]
    if field.public_text.encoding is None:
        assert field.parse_public(FACADE) == V7
    else:
        wrong.append(FACADE)
    for found in wrong:
        with pytest.raises(ValidationError) as refused:
            field.parse_public(found)
        # The example is a facade, too, of no key.
        shown = field.public_text.example
        assert refused.value.messages[0].endswith(f"such as {shown}.")
        assert field.scheme.format(field.scheme.example) not in refused.value.messages[0]


def test_more_than_128_bits_are_no_facade():
    field = UUIDv7Field(masked=True, encoding="base32")
    text = field.public_text.format(V7)
    with pytest.raises(ValidationError):
        field.parse_public(f"f{text[1:]}")


# Keys


def test_without_a_key(settings):
    settings.SORTABLE_IDS = {}
    for call in (MASKED.public_text.format, lambda value: MASKED.parse_public(str(FACADE))):
        with pytest.raises(ImproperlyConfigured, match=r"MASK_KEYS.*secrets.token_hex\(16\)"):
            call(V7)
    assert MASKED.to_python(V7) == V7


@in_one_case(
    "keys", [KEY, [KEY[1:]], [KEY, "x" * 32], [int(KEY, 16)], None, {KEY: 1}, [KEY.encode()]]
)
def test_wrong_keys_are_refused_and_not_shown(settings, keys):
    settings.SORTABLE_IDS = {"MASK_KEYS": keys}
    with pytest.raises(ImproperlyConfigured) as refused:
        MASKED.public_text.format(V7)
    assert str(refused.value) == (
        "SORTABLE_IDS['MASK_KEYS'] is invalid; expected texts of 32 hexadecimal digits, in a list. "
        "Generate one with: python -c 'import secrets; print(secrets.token_hex(16))'"
    )


def test_the_first_key_masks_and_every_key_unmasks(settings):
    use(settings, OTHER, KEY)
    assert MASKED.public_text.format(V7) == facade(V7, OTHER) != str(FACADE)
    for text in (facade(V7, OTHER), str(FACADE)):
        assert MASKED.parse_public(text) == V7
        assert V7 in MASKED.candidates(text)
        assert len(MASKED.candidates(text)) == 2


def test_times_that_are_not_of_our_days_are_candidates_too(settings):
    early = get("uuid7").from_int(get("uuid7").layout.join(5, 7))
    use(settings, OTHER, KEY)
    assert early in MASKED.candidates(facade(early, KEY))
