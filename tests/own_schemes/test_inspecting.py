"""Registered schemes in the inspector, and schemes whose parts share digits."""

from dataclasses import replace

import pytest

from django_sortable_ids.inspecting.inspection import inspect
from django_sortable_ids.management.commands import inspect_id as report
from django_sortable_ids.schemes import Decimal, Layout, SuffixPart, TimeScheme, get, register

from .schemes import SAFE53, SCHEMES, SHORT96, TICKETS


def found_as(text, scheme):
    (candidate,) = inspect(text, scheme=scheme.name).candidates
    return candidate


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_a_registered_scheme(registered, scheme):
    text = scheme.format(scheme.example)
    assert scheme in [each.scheme for each in inspect(text).candidates]
    found = found_as(text, scheme)
    tick, suffix = scheme.parts(scheme.example)
    assert found.created == scheme.created_at(scheme.example)
    assert sum(part.width for part in found.anatomy.parts) == len(found.anatomy.text)
    values = {part.kind.value: part.value for part in found.anatomy.parts}
    assert values["time"] == tick
    if scheme is SAFE53:
        assert (values["worker"], values["sequence"]) == divmod(suffix, 1 << 7)
    assert found.is_newest_first == scheme.descending


def test_digits_of_base_36(registered):
    anatomy = found_as(TICKETS.format(TICKETS.example), TICKETS).anatomy
    assert [part.width for part in anatomy.parts] == [8, 5]
    assert anatomy.text == TICKETS.example


def test_names_of_the_parts(registered):
    named = replace(
        SHORT96,
        name="named96",
        suffix_parts=(
            SuffixPart("shard", 1 << 16, "worker"),
            SuffixPart("counter", 1 << 32, "sequence"),
        ),
    )
    register(named)
    tick, suffix = named.parts(named.example)
    found = found_as(named.example, named)
    assert {str(part.name): part.value for part in found.anatomy.parts} == {
        "time": tick,
        "shard": suffix >> 32,
        "counter": suffix & (1 << 32) - 1,
    }


def test_names_that_do_not_fit_the_suffix(registered):
    wrong = replace(SHORT96, name="wrong96", suffix_parts=(SuffixPart("shard", 1 << 16),))
    with pytest.raises(ValueError, match="suffix_parts: their sizes don't have the product"):
        register(wrong)


def test_parts_that_share_digits(registered):
    """700 suffixes are no whole number of bits or of digits."""
    scheme = register(
        TimeScheme(
            name="shared",
            title="shared digits",
            specification="time * 700 + worker * 100 + sequence",
            bits=63,
            value_type=int,
            text_forms=(("decimal", Decimal(19)),),
            layout=Layout(ticks=1 << 41, suffixes=700, workers=7),
            epoch_ns=get("tsid").epoch_ns,
            tick_ns=1_000_000,
        )
    )
    text = str(1_000 * 86_400_000 * 700 + 3 * 100 + 17)
    found = found_as(text, scheme)
    assert found.anatomy.text == ""
    assert [(part.kind.value, part.value, part.width) for part in found.anatomy.parts] == [
        ("time", 86_400_000_000, 0),
        ("worker", 3, 0),
        ("sequence", 17, 0),
    ]
    lines = list(report.as_text(inspect(text, scheme="shared")))
    assert "    time           2022-09-27T00:00:00.000Z" in lines
