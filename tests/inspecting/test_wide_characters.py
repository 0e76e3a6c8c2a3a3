"""Names of parts in Japanese, whose characters are as wide as two Latin ones."""

import unicodedata
from itertools import pairwise

import pytest
from django.core.management import call_command
from django.utils import translation

from django_sortable_ids.inspecting.parts import anatomy
from django_sortable_ids.inspecting.picture import picture
from django_sortable_ids.schemes import get

UUID7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@pytest.fixture(autouse=True)
def japanese():
    with translation.override("ja"):
        yield


def width(text):
    return sum(2 if unicodedata.east_asian_width(each) == "W" else 1 for each in text)


def test_labels_do_not_overlap():
    scheme = get("uuid7")
    labels = picture(anatomy(scheme, scheme.parse(UUID7))).labels
    assert any(width(label.text) > len(label.text) for label in labels)
    for label, following in pairwise(labels):
        if label.y == following.y:
            assert label.x + 5 * width(label.text) <= following.x


def test_values_in_a_terminal_are_aligned(capsys):
    call_command("inspect_id", UUID7, "--no-rows", "--no-color")
    lines = capsys.readouterr().out.splitlines()
    for name, value in (("部分", "0-47"), ("表記", "canonical")):
        (line,) = (line for line in lines if line.startswith(f"    {name} "))
        assert width(line[: line.index(value)]) == 19
