"""``manage.py inspect_id``: what it prints, and what it knows."""

import re
from functools import partial
from io import BytesIO, TextIOWrapper

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from django_sortable_ids.ids import public_id
from django_sortable_ids.inspecting.inspection import columns_of_project, inspect
from django_sortable_ids.schemes import all_schemes
from tests import support
from tests.admin.page import Page
from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Order, Review, Stock, ULIDProduct
from tests.testapp.models import MaskedKey, Time64MillisecondKey

UUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
PUSH_ID = "-JhLeOlGIEjaIOFHR0xd"
REPORT = """
017f22e2-79b0-7cc3-98c4-dc0c0c07398f

UUIDv7
    time           2022-02-22T19:22:22.000Z
                   2022-02-22 14:22:22-05:00 America/New_York
    parts          0-47             time: 1645557742000
                   48-51            version: 7
                   52-63, 66-127    random: 0x330d8c4dc0c0c07398f
                   64-65            variant: 10
    spellings      canonical        017f22e2-79b0-7cc3-98c4-dc0c0c07398f
"""


@pytest.fixture(autouse=True)
def today():
    with time_machine.travel("2026-11-20T12:00Z", tick=False):
        yield


run = partial(support.printed, "inspect_id")


def known_of(text, **options):
    return inspect(str(text), columns_of_project(), **options)


def fields(candidate):
    return list(map(str, candidate.fields))


def test_the_report():
    """This test may use no database."""
    printed = re.sub(": ids of this project: .+", "", run(UUID, no_rows=True))
    assert printed.startswith(REPORT.lstrip("\n"))


@in_one_case("scheme", [pytest.param(scheme, id=scheme.name) for scheme in all_schemes()])
def test_the_parts_of_every_scheme(scheme):
    text = scheme.format(scheme.example)
    found = known_of(text, scheme=scheme.name, looks_up=False)
    candidate = next(each for each in found.candidates if each.spellings[each.encoding] == text)
    assert candidate.scheme.name == scheme.name
    if candidate.anatomy:
        widths = [part.width for part in candidate.anatomy.parts]
        assert sum(widths) == len(candidate.anatomy.text)
    assert found.text == text


def test_one_scheme():
    printed = run("1456074443983795930", "--scheme", "discord", "--no-rows")
    assert "\n\nDiscord snowflake: " in printed
    assert "Other schemes" not in printed
    with pytest.raises(CommandError, match="invalid choice: 'nope'"):
        run(UUID, "--scheme", "nope")
    with pytest.raises(CommandError, match=r"Without --scheme=ulid, all schemes are tried\.$"):
        run(UUID, "--scheme", "ulid", "--no-rows")


def test_a_malformed_text():
    ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAU"
    out = TextIOWrapper(BytesIO(), encoding="ascii", write_through=True)
    with pytest.raises(CommandError, match=r": This is not an id of any known scheme\.$"):
        call_command("inspect_id", ulid, "é", UUID, no_rows=True, stdout=out)
    written = out.buffer.getvalue().decode()
    assert f"{ulid}\nThis is not an id of any known scheme.\n\n\\xe9\nThis is not" in written
    assert "UUIDv7" in written
    with pytest.raises(CommandError, match=r"^!, \?: This is not an id"):
        run("!", "?", no_rows=True)


def test_a_push_id_begins_like_an_option():
    assert PUSH_ID in run("--no-rows", "--", PUSH_ID).splitlines()


# Rows


@pytest.mark.django_db
@in_one_case("name", list(PRODUCTS))
def test_the_row_of_an_id(name):
    row = PRODUCTS[name].objects.create(name="the row")
    label = f"store.{PRODUCTS[name].__name__}.id"
    for text in (public_id(row), str(row.pk)):
        found = [each for each in known_of(text).rows if str(each.column.field) == label]
        assert [(each.row, each.public_id, each.is_old) for each in found] == [
            (row, public_id(row), False)
        ]
    assert f"row            {label}: {public_id(row)} (the row)" in run(public_id(row))


@pytest.mark.django_db
def test_the_name_of_a_row_is_escaped():
    row = ULIDProduct.objects.create(name="a\x1b[2J\u202eb\nc")
    assert "(a\\x1b[2J\\u202eb\\nc)" in run(row.pk)


@pytest.mark.django_db
def test_a_column_without_a_unique_index_is_not_searched():
    review = Review.objects.create()
    Review.objects.update(import_id=UUID)
    stock = Stock.objects.create(place=1)
    with CaptureQueriesContext(connection) as queries:
        found, label, shelf = map(known_of, (UUID, stock.label, stock.shelf))
    assert not found.rows
    assert not shelf.rows
    assert [str(each.column.field) for each in label.rows] == ["store.Stock.label"]
    tables = " ".join(each["sql"] for each in queries.captured_queries)
    assert "store_review" not in tables
    assert review.pk


@pytest.mark.django_db
def test_a_masked_text_of_an_old_key(settings):
    """Several keys may have masked it: the row tells which one has."""
    old = settings.SORTABLE_IDS["MASK_KEYS"]
    row = MaskedKey.objects.create()
    text = public_id(row)
    settings.SORTABLE_IDS = {"MASK_KEYS": ["1" * 32, *old]}

    def masked(found):
        return [each for each in found.candidates if fields(each) == ["testapp.MaskedKey.id"]]

    found = known_of(text)
    assert [each.row for each in found.rows] == [row]
    assert [each.spellings["canonical"] for each in masked(found)] == [str(row.pk)]
    row.delete()
    found = known_of(text)
    assert len(masked(found)) == 2
    assert "not certain" in found.notes[1]


@pytest.mark.django_db
def test_a_table_that_is_missing_in_a_transaction():
    row = ULIDProduct.objects.create(name="there")
    table = Stock._meta.db_table
    Stock._meta.db_table = "nowhere"
    try:
        found = known_of(row.pk)
    finally:
        Stock._meta.db_table = table
    assert [each.row for each in found.rows] == [row]
    assert ULIDProduct.objects.count() == 1


# The template tag that draws the bits of an id.


PAGE = Template("{% load sortable_ids %}{% sortable_id_picture row field %}")


def drawn(row, field=None):
    """The picture, or None."""
    page = Page(PAGE.render(Context({"row": row, "field": field})))
    pictures = list(page.root.find_all("svg"))
    assert len(pictures) <= 1
    return pictures[0] if pictures else None


def digits(picture):
    texts = list(picture.find_all("text", class_="sortable-ids-digit"))
    order = sorted(texts, key=lambda text: (int(text["y"]), float(text["x"])))
    return "".join(text.text for text in order)


def test_it_draws_each_bit_of_the_value():
    product = PRODUCTS["uuid7"]()
    picture = drawn(product)
    assert int(digits(picture), 2) == product.pk.int
    assert picture["aria-label"] == "128 bits: time 48, version 4, random 74, variant 2"
    assert drawn(Time64MillisecondKey())["aria-label"].startswith("19 digits: time 13, ")


def test_it_draws_one_of_several_ids():
    order = Order()
    order.snowflake = Order._meta.get_field("snowflake").generate()
    assert int(digits(drawn(order, "snowflake")), 2) == order.snowflake


@pytest.mark.parametrize("row", [Order(), None, "text", PRODUCTS["sequence"](id="A1")])
def test_it_draws_nothing_without_an_id_or_without_a_time(row):
    assert drawn(row) is None


@pytest.mark.parametrize("language", ["de", "fr", "ar"])
def test_no_language_formats_its_geometry(language, settings):
    settings.USE_THOUSAND_SEPARATOR = True
    product = PRODUCTS["uuid7"]()
    with override(language):
        found = PAGE.render(Context({"row": product, "field": None}))
    numbers = re.findall(r'\s(?:x|y|width|height)="([^"]*)"', found)
    assert len(numbers) > 300
    assert all(re.fullmatch(r"\d+(\.\d+)?", each) for each in numbers)
