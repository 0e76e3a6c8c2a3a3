"""The template tag that draws the bits of an id."""

import re

import pytest
from django.template import Context, Template
from django.utils.translation import override

from tests.admin.page import Page
from tests.store.models import PRODUCTS, Order

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
