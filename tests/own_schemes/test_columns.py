"""A registered scheme in a column of every kind: whatever works with the schemes of the package."""

import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import NotSupportedError
from django.db.migrations.writer import MigrationWriter

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.columns import Times
from django_sortable_ids.backfill.sources.target import Target
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.fields import SortableTextField
from django_sortable_ids.functions import CreatedAt, GenerateID
from django_sortable_ids.inspecting.inspection import inspect
from django_sortable_ids.management.commands import inspect_id as report
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.schemes import (
    Decimal,
    Layout,
    OutOfRange,
    SuffixPart,
    TimeScheme,
    get,
    register,
)
from django_sortable_ids.testing import deterministic_ids
from tests.functions.test_created_at import assert_found, numbers_of, time_of
from tests.marks import own_tables

from .schemes import SAFE53, SCHEMES, SHORT96, BaiduField, Short96Field

pytestmark = own_tables

START = datetime(2021, 5, 17, 9, 30, tzinfo=UTC)
"""Every scheme holds it, Baidu's until 2024 as well."""
TIMES = [START] * 23 + [START + n * timedelta(minutes=7, microseconds=n) for n in range(60)]


def is_unread(field):
    """Whether no database reads its time: it shares a digit with other bits."""
    return field.storage == "char" and field.scheme.name in ("short96", "half_hours")


def insert(model, times):
    """Rows without ids."""
    with deterministic_ids(START):
        model.objects.bulk_create([model(at=at) for at in times])
    model.objects.update(made=None)


def test_ids_are_kept_found_and_read(model, field):
    scheme = field.scheme
    values = {scheme.from_int(number) for number in numbers_of(scheme, 60)}
    model.objects.bulk_create([model(made=value) for value in values])
    assert set(model.objects.values_list("made", flat=True)) == values
    in_order = list(model.objects.order_by("made").values_list("made", flat=True))
    assert in_order == sorted(values)
    assert_found(model, values, scheme)
    if is_unread(field):
        with pytest.raises(NotSupportedError, match="storage='binary'"):
            list(model.objects.values_list(CreatedAt("made")))
        return
    found = dict(model.objects.values_list("made", CreatedAt("made")))
    assert found == {value: time_of(scheme, value) for value in values}


def test_a_backfill_fills_it_in_order_and_verifies_it(model, field):
    insert(model, [*TIMES[1::2], *TIMES[::2]])
    target = Target(
        model._meta.get_field("made"), Times(model, model._meta.get_field("at"), "default")
    )
    result = run.execute(plan.build(target, 17))
    assert (result.filled, result.remaining) == (len(TIMES), 0)
    ids = list(model.objects.order_by("at", "pk").values_list("made", flat=True))
    assert ids == sorted(ids, reverse=field.scheme.descending)
    assert verify(target).failures == []


def test_migrations_name_the_users_class(field):
    _, path, _, options = field.deconstruct()
    assert path == f"{__package__}.schemes.{type(field).__name__}"
    assert "scheme_name" not in options
    source, imports = MigrationWriter.serialize(field)
    namespace = {}
    exec("\n".join([*imports, f"field = {source}"]), namespace)
    assert namespace["field"].scheme is field.scheme is copy.deepcopy(field).scheme


def test_a_time_outside_of_the_scheme_is_refused(registered):
    """Its 28 bits of seconds ended in 2024."""
    with pytest.raises(OutOfRange, match=r"can't hold .* to 2024-11-20"):
        BaiduField().scheme.generate(datetime(2025, 1, 1, tzinfo=UTC))
    with pytest.raises(OutOfRange, match="outside the range of the scheme"):
        BaiduField().generate()
    with pytest.raises(OutOfRange, match=r"Baidu uid can't hold .* to 2024-11-20"):
        list(BackfillRun.objects.values_list(GenerateID("baidu")))


def test_a_field_has_the_base_class_of_its_values(registered):
    class WrongField(SortableTextField):
        scheme_name = "safe53"

    (wrong,) = WrongField().wrong_options
    assert wrong.kind == "E012"
    assert wrong.message == (
        "values of WrongField are str, those of safe integer are int: subclass SortableIntegerField"
    )
    with pytest.raises(ImproperlyConfigured, match="subclass SortableIntegerField"):
        WrongField().generate()


def test_a_field_of_a_scheme_that_is_not_registered(monkeypatch):
    with pytest.raises(LookupError, match=r"'short96'; .* registered before its field is created"):
        Short96Field()


# Registered schemes in the inspector, and schemes whose parts share digits.


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
