"""The colours of the parts can be read, in light and in dark."""

import re
from itertools import combinations
from pathlib import Path

import pytest

import django_sortable_ids
from django_sortable_ids.inspecting.output.picture_terminal import _COLORS
from django_sortable_ids.inspecting.parts import Kind

CSS = Path(django_sortable_ids.__file__).parent / "static/django_sortable_ids/inspect_id.css"
BACKGROUNDS = {"light": "#ffffff", "dark": "#121212"}
"""Those of Django's admin."""


def palettes() -> dict[str, dict[str, str]]:
    """The variables of each theme; dark ones are there twice, for the system and for the switch."""
    blocks = re.findall(r"([^{}]+)\{([^{}]+--sortable-ids-time:[^{}]+)\}", CSS.read_text())
    found = [dict(re.findall(r"--sortable-ids-(\w+): (#\w+)", block)) for _, block in blocks]
    light, dark, switched = found
    assert dark == switched
    return {"light": light, "dark": dark}


def luminance(color: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_digits_and_edges(theme: str) -> None:
    palette = palettes()[theme]
    assert set(palette) == {*Kind, "digit", "edge"}
    for kind in Kind:
        assert contrast(palette["digit"], palette[kind]) >= 7, kind
        assert contrast(palette["edge"], palette[kind]) >= 3, kind
    assert contrast(palette["edge"], BACKGROUNDS[theme]) >= 3
    for one, other in combinations(Kind, 2):
        assert palette[one] != palette[other]


def test_every_kind_has_a_colour_of_a_terminal() -> None:
    assert set(_COLORS) == set(Kind)
    assert len(set(_COLORS.values())) == len(Kind)
