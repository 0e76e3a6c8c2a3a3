"""The template tag that draws the bits of an id."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from django.template import Context, Template
from django.utils.translation import override

import django_sortable_ids
from django_sortable_ids.inspecting.parts import Kind
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


# Colours

CSS = Path(django_sortable_ids.__file__).parent / "static/django_sortable_ids/inspect_id.css"
Color = tuple[float, float, float]
THEMES: dict[str, tuple[Color, Color]] = {
    "light": ((51, 51, 51), (255, 255, 255)),
    "dark": ((238, 238, 238), (18, 18, 18)),
}
"""Text and background of Django's admin, from 0 to 255."""
EDGE = 0.6


def over(background: Color, color: Color, opacity: float) -> Color:
    red, green, blue = (
        opacity * each + (1 - opacity) * below
        for each, below in zip(color, background, strict=True)
    )
    return red, green, blue


def palette() -> dict[str, tuple[Color, float]]:
    """The colour of each kind and its opacity."""
    found = re.findall(r"--sortable-ids-(\w+): rgb\((\d+) (\d+) (\d+) / (\d+)%\)", CSS.read_text())
    return {
        name: ((float(red), float(green), float(blue)), int(percent) / 100)
        for name, red, green, blue, percent in found
    }


def luminance(color: Color) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [each / 255 for each in color]
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Color, other: Color) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_digits_and_edges(theme: str) -> None:
    text, background = THEMES[theme]
    colors = {
        kind: over(background, color, opacity) for kind, (color, opacity) in palette().items()
    }
    assert set(colors) == set(Kind)
    for kind in Kind:
        assert contrast(text, colors[kind]) >= 7, kind
        assert contrast(over(colors[kind], text, EDGE), colors[kind]) >= 3, kind
    assert contrast(over(background, text, EDGE), background) >= 3
    for one, other in combinations(Kind, 2):
        assert colors[one] != colors[other]
