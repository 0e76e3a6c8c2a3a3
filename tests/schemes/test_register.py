"""Schemes of users in the catalogue: what is accepted, what is refused and why."""

import uuid
from dataclasses import replace

import pytest

from django_sortable_ids.schemes import (
    SECOND,
    Base64URL,
    Decimal,
    Digits,
    Integer,
    Layout,
    SuffixPart,
    TimeScheme,
    UUIDTemplate,
    all_schemes,
    alphabets,
    get,
    register,
)
from django_sortable_ids.schemes import catalog as registry
from django_sortable_ids.schemes.layout import PLAIN, ByteFractionTemplate
from django_sortable_ids.schemes.text_forms import Groups
from tests.combinations import in_one_case
from tests.own_schemes.schemes import SAFE53, SHORT96, UUID8


@pytest.fixture(autouse=True)
def catalogue(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})


def test_a_registered_scheme_is_in_the_catalogue():
    assert register(SHORT96) is SHORT96
    assert get("short96") is SHORT96
    assert all_schemes()[-1] is SHORT96


def test_an_equal_scheme_changes_nothing():
    register(SHORT96)
    assert register(replace(SHORT96)) is SHORT96
    assert register(get("ulid")) is get("ulid")


@in_one_case(
    ("scheme", "there"),
    [
        (replace(SHORT96, epoch_ns=SECOND), "short id, 96 bits, such as 00e6n"),
        (replace(SHORT96, name="ulid"), "ULID, 128 bits, such as 01KDVDNA00PVDPVDPVDPVDPVDM"),
    ],
)
def test_a_name_that_is_taken(scheme, there):
    registry._REGISTERED["short96"] = SHORT96
    with pytest.raises(ValueError, match=f"the scheme '{scheme.name}' exists: {there}.* another"):
        register(scheme)


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="'ulid': expected a TimeScheme"):
        register("ulid")
    with pytest.raises(TypeError, match="expected a TimeScheme"):
        register(get("lexical_sequence"))


def test_options_of_a_registered_scheme():
    register(SHORT96)
    with pytest.raises(TypeError, match="takes no options; remove epoch_ms"):
        get("short96", epoch_ms=5)


def forms(*forms):
    return {"text_forms": tuple((f"form {n}", form) for n, form in enumerate(forms))}


def layout(**changes):
    return {"layout": replace(SHORT96.layout, **changes)}


class Misread(Decimal):
    """A text form that reads something else than it has written."""

    def format(self, number):
        return f"{number:024x}"

    def parse(self, text):
        return 5


HEX24 = Digits(alphabets.HEX_LOWER, 24)
KUUID = get("kuuid").canonical


@in_one_case(
    ("scheme", "changes", "message"),
    [
        (SHORT96, {"name": "Short 96"}, "expected a name of a-z"),
        (SHORT96, {"title": ""}, "and a title"),
        (SHORT96, {"value_type": bytes}, "expected an int of 8 to 64 bits"),
        (SHORT96, {"bits": 200}, "a str of 8 to 192"),
        (SHORT96, {"bits": 95}, "expected 1 and 2 or more, together at most 95 bits"),
        (SHORT96, {"worker": 1}, "leave out worker"),
        (SHORT96, {"accepts_other_versions": True}, "set_bit and accepts_other_versions"),
        (SAFE53, {"bits": 65}, "expected an int of 8 to 64 bits"),
        (UUID8, {"bits": 96}, "or a uuid.UUID of 128"),
        (SHORT96, layout(ticks=0), "ticks=0, suffixes=281474976710656: expected 1 and 2 or more"),
        (SHORT96, layout(suffixes=1), "suffixes=1: expected 1 and 2 or more"),
        (SHORT96, layout(workers=3), "workers=3: expected 2 or more, and a divisor of 2814"),
        (SHORT96, layout(smallest=-1), "smallest and largest: expected 0 to 7922"),
        (SHORT96, layout(largest=1 << 97), "expected 0 to 7922"),
        (SHORT96, layout(descending=True, smallest=1), "and neither if it is descending"),
        (SHORT96, layout(template=UUIDTemplate(8)), "a UUIDTemplate of a version from 1 to 15"),
        (SHORT96, layout(template=ByteFractionTemplate(250, 48)), "template: leave it out"),
        (UUID8, {"layout": Layout(ticks=2, suffixes=2)}, "needs a UUIDTemplate of a version from"),
        (
            UUID8,
            {"layout": Layout(ticks=1 << 60, suffixes=1 << 63, template=UUIDTemplate(8))},
            "at most 122 bits",
        ),
        (SHORT96, {"suffix_parts": (SuffixPart("shard", 1 << 16),)}, "don't have the product"),
        (SHORT96, {"tick_ns": 0}, "tick_ns=0, epoch_ns=.*: expected 1 or more"),
        (SHORT96, {"epoch_ns": 5}, "epoch_ns=5: .* whole microseconds"),
        (SHORT96, {"epoch_ns": 10**21}, "of the years 1 to 9999"),
        (SHORT96, layout(smallest=(1 << 96) - 1), "in which its first tick starts, too"),
        (
            SHORT96,
            {"tick_ns": 1, "layout": Layout(ticks=1 << 64, suffixes=1 << 32)},
            "calculate in 63 bits",
        ),
        (
            SHORT96,
            {"layout": Layout(ticks=1 << 64, suffixes=1 << 32, descending=True)},
            "calculate in 63 bits",
        ),
        (SHORT96, {"text_forms": ()}, "expected one or more, each with its own name"),
        (SHORT96, {"text_forms": (("a", HEX24), ("a", HEX24))}, "each with its own name"),
        (SHORT96, forms(HEX24, Digits("abca", 99)), "'form 1': expected 2 to 64"),
        (SHORT96, forms(Digits("a", 99)), "expected 2 to 64"),
        (SHORT96, forms(Digits("01'\"", 99)), "of ASCII letters, digits and -._~"),
        (SHORT96, forms(Digits(alphabets.BASE62, 16)), "it can't write and read each"),
        (SHORT96, forms(Digits("01", 300)), "in 255 characters"),
        (SHORT96, forms(Digits("ba" + alphabets.HEX_UPPER, 99)), "doesn't sort like the number"),
        (SHORT96, forms(Base64URL(12)), "doesn't sort like the number; sort its alphabet"),
        (SHORT96, forms(HEX24, Base64URL(11)), "'form 1': it can't write and read each"),
        (SHORT96, forms(HEX24, Decimal(5)), "'form 1': it can't write and read each"),
        (SHORT96, forms(HEX24, Digits("0Aa" + "Bb", 99, fold="upper")), "of one case, if it folds"),
        (SHORT96, forms(HEX24, Misread(24)), "'form 1': it can't write and read each"),
        (SHORT96, layout(ticks=62**8, suffixes=62**7), "suffixes=.*: expected a power of 2; or"),
        (SHORT96, forms(KUUID), "it can't write and read each"),
    ],
)
def test_what_can_not_work_is_refused(scheme, changes, message):
    wrong = replace(scheme, **changes)
    with pytest.raises(ValueError, match=f"scheme '{wrong.name}': .*{message}"):
        register(wrong)
    assert registry._REGISTERED == {}


@in_one_case("scheme", [each for each in all_schemes() if isinstance(each, TimeScheme)])
def test_the_schemes_of_the_package_follow_the_rules(scheme):
    template = scheme.layout.template
    is_plain = template is PLAIN or isinstance(template, UUIDTemplate)
    if is_plain and not isinstance(scheme.canonical, Groups):  # which users may choose
        layout = replace(scheme.layout, set_bit=None)
        register(replace(scheme, name="own", layout=layout))
        registry._REGISTERED.clear()


def test_an_integer_of_53_bits_is_safe_in_javascript():
    assert SAFE53.whole_range[1] == 2**53 - 1
    assert SAFE53.layout.workers == 32
    assert Integer(name="a", title="a", specification="", digits=53, time=53 - 12).scheme()
    assert uuid.UUID(int=UUID8.to_int(UUID8.generate())).version == 8
