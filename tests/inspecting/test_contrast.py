"""The colours of the parts can be read, in light and in dark."""

import re
from itertools import combinations
from pathlib import Path

import pytest

import django_sortable_ids
from django_sortable_ids.inspecting.parts import Kind

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
