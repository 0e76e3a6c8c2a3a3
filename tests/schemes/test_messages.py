"""What refusals say: what was found, what was expected, and an example."""

from dataclasses import replace

import pytest

from django_sortable_ids.schemes import InvalidID, get
from tests.combinations import in_one_case

from .support import ENCODINGS, SCHEMES


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


@pytest.mark.parametrize(
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
        ("lexical_sequence", "A B", "' ' is not one of its characters"),
        ("lexical_sequence", "A" * 21, "it has 21 characters"),
    ],
)
def test_reasons(name, text, reason):
    assert f": {reason}. Expected " in refusal(get(name), text)


@pytest.mark.parametrize(
    ("encoding", "text", "reason"),
    [
        ("base64url", "F03vrxTzfNZ", "its last character has bits beyond the last byte"),
        ("base64url", "F03vrxTzfN", "it is not URL-safe base 64 of that size"),
        ("base62", "zzzzzzzzzzz", "it is out of the scheme's range"),
    ],
)
def test_reasons_of_other_encodings(encoding, text, reason):
    assert f": {reason}. Expected " in refusal(get("time64"), text, encoding)


def test_reason_of_sql_server_text():
    message = refusal(get("comb13"), "75e1f27f-624e-11e1-a11d-ed65de8970f6", "sqlserver")
    assert "not a version 1 UUID in SQL Server's byte order" in message


def test_values_of_the_wrong_type_are_named():
    with pytest.raises(
        InvalidID, match="5 is not a valid UUIDv7: expected the type UUID, found int"
    ):
        get("uuid7").format(5)
    with pytest.raises(
        InvalidID, match="'5' is not a valid snowflake: expected the type int, found str"
    ):
        get("snowflake").format("5")


UUID = "32 hexadecimal digits, hyphens optional"

EXPECTATIONS = {
    "uuid1": f"{UUID}, such as d0c3c000-e6a4-11f0-adb6-db6db6db6db4",
    "uuid6": f"{UUID}, such as 1f0e6a4d-0c3c-6000-adb6-db6db6db6db4",
    "uuid7": f"{UUID}, such as 019b76da-a800-7b6d-adb6-db6db6db6db4",
    "comb4": f"{UUID}, such as a0ba6d69-a000-4b6d-adb6-db6db6db6db4",
    "comb4_pomelo": f"{UUID}, such as 08de48c8-b4f8-4000-80b6-db6db6db6db4",
    "comb4_efcore": f"{UUID}, such as b6db6db6-db6d-4b6d-0000-08de48c8b4f8",
    "flake": "18 characters of 0-9A-Za-z, such as B1p7Xwn8Mafk6cPOF0",
    "cuid": "“c” and 24 characters of 0-9a-z, such as cmjuohs00pppppppppppppppp",
    "comb13": f"{UUID}, such as 1f0e6a4d-0c3c-d000-adb6-db6db6db6db4",
    "ulid": "26 characters of 0-9A-HJKMNP-TV-Z, in any case, such as 01KDVDNA00PVDPVDPVDPVDPVDM",
    "hexulid": "32 characters of 0-9A-F, in any case, such as 019B76DAA800B6DB6DB6DB6DB6DB6DB4",
    "snowflake": "a whole number of at most 19 digits, such as 2006515713441642202",
    "time64": "a whole number of 19 digits, such as 1767225600000071425",
    "kuuid": "32 characters of 0-9A-Za-z, such as 001vb66i3LcJi2418mS320ZOE13LcJi0",
    "kuuid_ms": "32 characters of 0-9A-Za-z, such as 0V70MWDg3LcJi2418mS320ZOE13LcJi0",
    "lexical_sequence": ("1 to 20 characters of 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ, such as 00"),
}


@in_one_case("name", EXPECTATIONS)
def test_expectations(name):
    assert refusal(get(name), "no id!").endswith(f". Expected {EXPECTATIONS[name]}.")
