"""Which schemes a text may be an id of, and in which order; what people and attackers paste."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from django_sortable_ids.inspecting.candidates import as_format, candidates
from django_sortable_ids.inspecting.inspection import MOST_CHARACTERS, SearchedColumn, inspect
from django_sortable_ids.inspecting.parts import Kind
from django_sortable_ids.management.commands import inspect_id as report
from django_sortable_ids.schemes import get
from tests.combinations import in_one_case
from tests.schemes.test_vectors import VALID
from tests.store.models import Order, ULIDProduct, Voucher, id_column
from tests.testapp.models import MaskedKey, Time64MillisecondKey, ULIDKey
from tests.testapp.models import Order as DatedOrder

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def today():
    with time_machine.travel("2026-11-20T12:00Z", tick=False):
        yield


def columns(*fields):
    return [SearchedColumn(field, field.model._base_manager.all) for field in fields]


def only(text, *fields):
    return inspect(text, columns(*fields), looks_up=False)


def first(text, *fields):
    return only(text, *fields).candidates[0]


@in_one_case(
    ("text", "scheme"),
    [
        ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuid7"),
        ("017f22e279b07cc398c4dc0c0c07398f", "uuid7"),
        ("{017F22E2-79B0-7CC3-98C4-DC0C0C07398F}", "uuid7"),
        ("urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuid7"),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid"),
        ("01arz3ndektsv4rrffq69g5fav", "ulid"),
        ("01563E3AB5D3D6764C61EFB99302BD5B", "hexulid"),
        ("9m4e2mr0ui3e8a215n4g", "xid"),
        ("56e1fc72e0c917e9c4714161", "objectid"),
        ("-JhLeOlGIEjaIOFHR0xd", "pushid"),
        ("001vb66i3LcJi2418mS320ZOE13LcJi0", "kuuid"),
        ("001vb66i3LcJi2418mS3", "kuuid"),
        ("0372hg16cy3nowracls909wcd", "scru128"),
        ("1212092628029698048", "snowflake"),
        ("cmjuohs00pppppppppppppppp", "cuid"),
        ("0P1GWY002VDPT", "tsid"),  # a snowflake is rarely spelled so
    ],
)
def test_the_most_likely_scheme(text, scheme):
    assert first(text).scheme.name == scheme


def test_a_number_has_many_schemes_those_with_a_plausible_time_first():
    found = only("1456074443983795930")
    likely = [each.scheme.name for each in found.candidates if each.is_likely]
    assert likely == ["snowflake", "discord", "instagram", "time64"]
    assert [each.scheme.name for each in found.candidates][:4] == likely
    doubts = {each.scheme.name: each.doubt for each in found.candidates if not each.is_likely}
    assert doubts["tsid"] == "its time is in the future"
    assert found.in_full == [found.candidates[0]]
    assert found.others == found.candidates[1:]


@in_one_case(
    ("text", "scheme", "doubt"),
    [
        ("ffffffff-ffff-7fff-bfff-ffffffffffff", "uuid7", "its time is in the future"),
        ("01aaaaaaaaaaaaaaaaaaaaaaaa", "ulid", None),
        ("00000000-0001-7000-8000-000000000000", "uuid7", "its time is before the year 2000"),
        ("0mzzzzzzzzzzzzzzzzzzzzzzzz", "ulid", "its time is in the future"),
        (
            "12345",
            "snowflake",
            "its time is in the first day of the scheme: it may be a plain number",
        ),
        ("ABCD", "lexical_sequence", "any short text fits a sequence"),
    ],
)
def test_doubts(text, scheme, doubt):
    by_name = {each.scheme.name: each for each in only(text).candidates}
    assert by_name[scheme].doubt == doubt


@in_one_case(
    ("scheme", "at", "is_likely"),
    [
        ("ulid", datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC), False),
        ("ulid", datetime(2000, 1, 1, tzinfo=UTC), True),
        # Clocks of other machines may be fast, by less than a day.
        ("ulid", datetime(2026, 11, 21, 12, tzinfo=UTC), True),
        ("ulid", datetime(2026, 11, 21, 12, 0, 1, tzinfo=UTC), False),
        ("snowflake", get("snowflake").earliest + timedelta(hours=23), False),
        ("snowflake", get("snowflake").earliest + timedelta(days=1), True),
    ],
)
def test_a_time_is_plausible_from_2000_until_tomorrow(scheme, at, is_likely):
    by_name = {each.scheme.name: each for each in only(str(get(scheme).lower_bound(at))).candidates}
    assert by_name[scheme].is_likely == is_likely


def test_the_prefix_of_a_field():
    field = id_column(Order, "ulid")
    found = first("ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", field, id_column(ULIDProduct))
    assert (found.scheme, found.fields, found.is_of_prefix) == (get("ulid"), (field,), True)


def test_three_ids_of_the_project_are_named():
    fields = [id_column(Order, "ulid"), *map(id_column, (ULIDProduct, Voucher, ULIDKey))]
    text, names = "01ARZ3NDEKTSV4RRFFQ69G5FAV", ", ".join(map(str, fields[:3]))
    for count, shown in ((3, names), (4, f"{names}, ...")):
        assert first(text, *fields[:count]).use == f"ids of this project: {shown}"


def test_a_prefix_that_nobody_knows():
    found = first("user_01h455vb4pex5vsknk084sn02q")
    assert (found.scheme.name, found.encoding, found.prefix) == ("uuid7", "base32", "user_")
    assert str(found.value) == "01890a5d-ac96-774b-bcce-b302099a8057"
    assert not found.is_of_prefix
    assert first("user:01ARZ3NDEKTSV4RRFFQ69G5FAV").scheme.name == "ulid"


def test_the_scheme_of_a_field_is_more_likely_than_others():
    number = str(get("discord").lower_bound(AT))
    assert first(number).scheme.name == "snowflake"
    field = id_column(Time64MillisecondKey)
    text = field.scheme.format(field.scheme.lower_bound(AT))
    assert first(text).scheme != field.scheme
    found = first(text, field)
    assert (found.scheme, found.fields) == (field.scheme, (field,))
    # Also than one whose ids have a version.
    text = "017F22E279B07CC398C4DC0C0C07398F"
    assert first(text).scheme.name == "uuid7"
    assert first(text, DatedOrder._meta.get_field("hexulid")).scheme.name == "hexulid"


def test_a_uuid_that_may_be_random():
    found = only("f47ac10b-58cc-4372-a567-0e02b2c3d479")
    assert found.in_full == []
    assert all(not each.is_likely for each in found.candidates)
    assert found.notes == [
        "A UUID of version 4 has no time. If it is a masked text, only its model can read it."
    ]


@in_one_case(
    "text",
    [
        "886313e1-3b8a-5372-9b90-0c9aee199e5d",  # version 5
        "00000000-0000-0000-0000-000000000000",  # nil
        "00000000-0000-0000-c000-000000000046",  # Microsoft
    ],
)
def test_a_uuid_without_a_time(text):
    found = only(text)
    assert found.is_id
    assert (found.candidates, found.notes) == ([], ["This is a UUID without a time."])


def test_a_masked_text_of_a_prefix_is_read_by_its_field_alone():
    field = id_column(MaskedKey)
    value = field.scheme.generate(AT)
    text = field.public_text.format(value)
    found = first(text, field)
    assert (found.value, found.masked_by) == (value, field)
    opaque = only(text)
    assert value not in [each.value for each in opaque.candidates]
    assert "only its model can read it" in opaque.notes[0]


ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
ORDER = f"ord_{ULID}"
UUID7 = "019b76da-a800-7b6d-adb6-db6db6db6db4"


@in_one_case(
    ("pasted", "text"),
    [
        (f" {ULID}\n", ULID),
        (f'"{ULID}"', ULID),
        (f"“{ULID}”", ULID),
        (f"<{ULID}>", ULID),
        (f"Order object ({ULID})", ULID),
        (f"UUID('{UUID7}')", UUID7),
        (f"{{'id': 'ord_{ULID}'}}", ORDER),
        (f'"id":"{ULID}",', ULID),
        (f"**{ULID}**: paid", ULID),
        (f"[{ULID}|paid]", ULID),
        (f"\u202e{ULID}\u202c", ULID),
        (f"\u200b{ULID}\ufeff", ULID),
        (f"https://example.com/orders/{ULID}/", ULID),
        (f"https://example.com/orders/{ULID}.json?page=2#top", ULID),
        (f"https://example.com:8000/a/b?next=%2Forders%2F{ULID}", ULID),
        (f"/admin/shop/order/{ULID}/change/?_changelist_filters=q%3Dx", ULID),
        (f"https://01BX5ZZKBKACTAV9WEVGEMMVS0.example.com/{ULID}/", ULID),
        (f"order={ULID}&page=3", ULID),
        (f"orders/{ULID}", ULID),
        (f"\x00{ULID}", ULID),
        (f"ord_{ULID}", ORDER),
        (f"/admin/shop/order/ord_5F{ULID}/change/", ORDER),
        (f"https://example.com/orders/ord%5F{ULID}/", ORDER),
        (f"https://example.com/orders/ord%3A{ULID}/", f"ord:{ULID}"),
        ("https://example.com/flights/12345/", "12345"),
    ],
)
def test_the_id_in_what_was_pasted(pasted, text):
    found = inspect(pasted)
    assert (found.text, found.is_id) == (text, True)


@in_one_case(
    "pasted",
    [
        *("/".join([ULID] * 2000), "a" * 10**6, "/" * 10**6, f"{'x/' * 10**6}{ULID}"),
        *("9" * 10**6, "ord_" * 10**5, " " * 10**6, "\u202e" * 10**6, "-" * 10**6, "%" * 10**6),
    ],
)
def test_huge_texts_take_little_time(pasted):
    start = time.process_time()
    found = inspect(pasted)
    list(report.as_text(found))
    assert time.process_time() - start < 1
    assert len(found.text) <= MOST_CHARACTERS


@in_one_case(
    "pasted",
    [
        *("", " ", "\x00", "\ud800", f"\ud800{ULID}", f"{ULID}\udfff", "é", "🦄", "\u0663\u0664"),
        *("<script>alert(1)</script>", "\u202e\u2066", "a\x1b[31mb", "%00", "%ZZ", "%ff%fe", "_5F"),
        *("1e999", "-1", "+1", "1_000", "0x10", "None", "{}", "[]", "://", "?", "prod_", "prod:"),
    ],
)
def test_odd_texts_are_answered(pasted):
    found = inspect(pasted)
    for line in report.as_text(found):
        line.encode()
        assert line.isprintable()


# Ids that other programs generated: their time, worker, sequence and every digit


def decoded(scheme, text):
    (found,) = candidates(text, [as_format(scheme)])
    return found


def only_part(anatomy, kind):
    (part,) = (part for part in anatomy.parts if part.kind is kind)
    return part


@in_one_case(("scheme", "vector"), VALID)
def test_the_time_and_the_values_of_the_digits(scheme, vector):
    """Read from the digits, and not as the scheme reads them."""
    found = decoded(scheme, vector["text"])
    assert only_part(found.anatomy, Kind.TIME).value == int(vector["tick"])
    if vector["created_at"] is None:
        assert (found.utc, found.doubt) == (None, "its time is in the future")
    else:
        expected = datetime.fromisoformat(vector["created_at"])
        assert found.created == datetime.fromisoformat(found.utc) == expected
        assert found.local in (None, expected)
    suffix, anatomy = 0, found.anatomy
    for part in sorted(anatomy.parts, key=lambda part: part.places):
        places = (anatomy.text[each.first : each.last + 1] for each in part.places)
        digits = "".join(places)
        base = len(anatomy.alphabet)
        value = sum(
            anatomy.alphabet.index(digit) * base**at for at, digit in enumerate(reversed(digits))
        )
        if part.kind is not Kind.TIME:
            complement = base**part.width - 1
            assert part.value == (complement - value if found.is_newest_first else value)
        if part.kind in (Kind.WORKER, Kind.SEQUENCE, Kind.RANDOM):
            suffix = suffix * base**part.width + part.value
    assert suffix == int(vector["tail"])
