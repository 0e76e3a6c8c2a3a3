"""Ids of any width, which SQL composes of tick and rank as Python does; ticks of any length."""

import uuid
from datetime import UTC, datetime, timedelta
from itertools import product
from unittest import mock

import pytest
from django.db import connection
from django.db.models.expressions import RawSQL
from django.db.models.sql import Query

from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.functions.generate import Composition
from django_sortable_ids.functions.ticks import MomentOfTick, tick_at
from django_sortable_ids.schemes import TimeScheme, catalog
from django_sortable_ids.schemes.alphabets import HEX_LOWER
from django_sortable_ids.schemes.layout import Layout, UUIDTemplate
from django_sortable_ids.schemes.text_forms import Decimal, Digits, UUIDText
from tests.schemes.support import MICROSECOND as US
from tests.schemes.support import from_unix_ns, unix_ns
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db

MS, S = 1_000_000, 1_000_000_000
TIMES = (8, 17, 31, 42, 47, 48, 60, 63)
SUFFIXES = (1, 3, 12, 46, 47, 48, 49, 54, 64, 65, 128)


class OfScheme(SortableIDField):
    """A column of any scheme, which needn't be in the catalogue."""

    scheme_name = "of the test"

    def __init__(self, scheme, **options):
        with mock.patch.dict(catalog._REGISTERED, {self.scheme_name: scheme}):
            super().__init__(**options)


def scheme_of(bits, form, layout, **others):
    others = {"value_type": str, "tick_ns": 1000, **others}
    return TimeScheme(
        name="of the test",
        title="test",
        specification="",
        bits=bits,
        text_forms=(("canonical", form),),
        layout=layout,
        **others,
    )


def of_bits(time, suffix, *, descending=False):
    layout = Layout(ticks=1 << time, suffixes=1 << suffix, descending=descending)
    bits = time + suffix
    return scheme_of(bits, Digits(HEX_LOWER, -(-bits // 4)), layout)


def as_bytes():
    for n, (time, suffix) in enumerate(product(TIMES, SUFFIXES)):
        yield OfScheme(of_bits(time, suffix, descending=bool(n % 3 == 0)), storage="binary")


def as_uuids():
    for time, storage in product(TIMES, ("uuid", "binary", "char32", "char36")):
        layout = Layout(ticks=1 << time, suffixes=1 << 122 - time, template=UUIDTemplate(7))
        yield OfScheme(scheme_of(128, UUIDText(), layout, value_type=uuid.UUID), storage=storage)


def as_hexadecimal():
    for time, suffix in product(TIMES, SUFFIXES):
        if (time + suffix) % 8 == 0:
            yield OfScheme(of_bits(time, suffix), storage="char")


def as_integers():
    for time, suffix in product(TIMES, SUFFIXES):
        if time + suffix <= 63 and suffix <= 48:
            layout = Layout(ticks=1 << time, suffixes=1 << suffix)
            yield OfScheme(scheme_of(64, Decimal(19), layout, value_type=int))


def rows(*expressions):
    """The values of expressions, selected all at once."""
    compiler = Query(Order).get_compiler(connection=connection)
    compiled = [compiler.compile(each) for each in expressions]
    with connection.cursor() as cursor:
        sql = ", ".join(sql for sql, _ in compiled)
        cursor.execute(f"SELECT {sql}", [param for _, params in compiled for param in params])
        return cursor.fetchone()


def integer(number):
    kind = "SIGNED" if connection.vendor == "mysql" else "bigint"
    return RawSQL(f"CAST({number} AS {kind})", ())


def ticks_of(scheme):
    layout = scheme.layout
    last = scheme.tick(scheme.latest)
    return sorted({layout.first_tick, 1, last // 3, last // 3 * 2 + 1, last - 1, last})


COMPOSED = [as_bytes, as_uuids, as_hexadecimal, as_integers]


@pytest.mark.parametrize("kind", COMPOSED)
def test_composed_of_tick_and_rank(kind):
    wrong = []
    for field in kind():
        scheme, stored = field.scheme, field.stored(connection)
        composition, layout = Composition(scheme, stored, connection), scheme.layout
        last = composition.ranks - 1
        ranks = [None, *sorted({0, last // 3 * 2, last})]
        cases = list(product(ticks_of(scheme), ranks))
        found = rows(
            *(
                composition.id_of(integer(tick), None if rank is None else integer(rank))
                for tick, rank in cases
            )
        )
        for (tick, rank), value in zip(cases, found, strict=True):
            parts = layout.split(stored.from_db(value))
            width = layout.suffixes // composition.ranks
            if parts is None or parts[0] != tick or (rank not in (None, parts[1] // width)):
                wrong.append((layout, type(stored).__name__, tick, rank, value, parts))
    assert wrong == []


LENGTHS = (100, 160, 333, 1000, 1500, 10_000, 3 * MS, 4 * MS, 7 * MS, S, 30 * S, 3600 * S, 90_001)
EPOCHS = ("1582-10-15", "1970-01-01", "2000-01-01T00:00:00.000123", "2016-05-20")


def test_ticks_of_any_length():
    Order.objects.create()
    wrong = []
    for tick_ns, epoch in product(LENGTHS, EPOCHS):
        if epoch < "1900" and 1000 % tick_ns and tick_ns not in (160, 1500) and tick_ns % 1000:
            continue  # 445 years in thousandths of a microsecond don't fit into a bigint.
        start = datetime.fromisoformat(epoch).replace(tzinfo=UTC)
        scheme = scheme_of(
            128,
            Digits(HEX_LOWER, 32),
            Layout(ticks=1 << 62, suffixes=1 << 66),
            epoch_ns=unix_ns(start),
            tick_ns=tick_ns,
        )
        moments = [start + each for each in (timedelta(0), US, 7 * US, timedelta(15_706, 3661, 17))]
        moments += [datetime(2026, 12, 31, 23, 59, 59, 999_999, UTC)]
        ticks = [scheme.tick(at) for at in moments]
        found = Order.objects.values_list(
            *(tick_at(integer(unix_ns(at) // 1000), scheme) for at in moments),
            *(
                MomentOfTick(integer(tick), epoch_us=scheme.epoch_ns // 1000, tick_ns=tick_ns)
                for tick in ticks
            ),
        ).get()
        starts = [from_unix_ns(scheme.epoch_ns + tick * tick_ns) for tick in ticks]
        if list(found) != [*ticks, *starts]:
            wrong.append((tick_ns, epoch, found, [*ticks, *starts]))
    assert wrong == []
