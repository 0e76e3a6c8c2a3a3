"""What a text that is no id at all may have been meant as."""

from collections.abc import Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError

from ...fields import SortableIDField
from ...fields.values.phrases import translated
from ...schemes import InvalidID, Scheme
from ...schemes.encodings.text_forms import TextForm
from .forms import characters

_MOST = 3
_FURTHEST = 6
_USUAL = ("uuid7", "ulid", "snowflake")


class Near(NamedTuple):
    """A scheme that the text is nearly an id of."""

    scheme: str
    """Its name in the catalogue."""
    title: str
    why: str
    """Why the text is no such id, and what is expected."""
    example: str


def near_schemes(
    text: str,
    schemes: Sequence[Scheme],
    fields: Sequence[SortableIDField] = (),
    furthest: int = _FURTHEST,
) -> list[Near]:
    """At most three, the nearest first; those of the project's ids with the text's prefix first.

    ``furthest`` is how many characters may be wrong or missing. Schemes that accept the text are
    left out.
    """
    found = _of_prefixes(text, fields)
    nearest = [
        (_distance(text, form), order, scheme, encoding)
        for order, scheme in enumerate(schemes)
        for encoding, form in _usual_forms(scheme)
    ]
    expected = set()
    for distance, _, scheme, encoding in sorted(nearest, key=_order):
        form = scheme.text_form(encoding)
        if len(found) == _MOST:
            break
        if distance > furthest:
            continue
        if form.expected not in expected and (refusal := _refusal(text, scheme, encoding)):
            expected.add(form.expected)
            found.append(refusal)
    return found


def examples(schemes: Sequence[Scheme]) -> list[Near]:
    """Ids of usual schemes, for a text that is near to none."""
    found: list[Near] = []
    for scheme in schemes:
        if scheme.name in _USUAL and scheme.name not in {each.scheme for each in found}:
            text = scheme.format(scheme.example)
            found.append(Near(scheme.name, scheme.title, translated(scheme.expectation()), text))
    return found


def _order(near: tuple[int, int, Scheme, str]) -> tuple[int, int]:
    """The usual schemes come before others that are nearer by one character."""
    distance, order, scheme, _ = near
    return distance - (scheme.name in _USUAL), order


def _of_prefixes(text: str, fields: Sequence[SortableIDField]) -> list[Near]:
    found = []
    for field in fields:
        public = field.public_text
        if any(prefix and text.startswith(prefix) for prefix in public.accepted_prefixes):
            try:
                field.candidates(text)
            except ValidationError as error:
                example = public.format(field.scheme.example)
                title = f"{field.scheme.title} ({field})"
                found.append(Near(field.scheme.name, title, error.messages[0], example))
    return found[:_MOST]


def _usual_forms(scheme: Scheme) -> list[tuple[str, TextForm]]:
    usual = {scheme.encodings[0], scheme.public_encoding}
    return [(name, form) for name, form in scheme.text_forms if name in usual]


def _refusal(text: str, scheme: Scheme, encoding: str) -> Near | None:
    try:
        scheme.parse(text, encoding)
    except InvalidID as error:
        example = scheme.format(scheme.example, encoding)
        return Near(scheme.name, scheme.title, translated(str(error)), example)
    return None


def _distance(text: str, form: TextForm) -> int:
    """How many characters are too many, too few, or not of this form."""
    too_long = max(len(text) - form.length, 0)
    too_short = max(form.shortest - len(text), 0)
    allowed = characters(form)
    wrong = sum(
        each not in allowed and each.swapcase() not in allowed for each in text[: form.length]
    )
    return too_long + too_short + wrong
