"""What is known of ids, as text for people and as one JSON document for programs."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from ...schemes.errors import encodable
from ..details import Details, details
from ..inspection import Answer, Inspection
from ..parts import Anatomy, Part
from ..reading import texts
from ..reading.candidates import Candidate
from ..rows import Found
from .columns import padded

_NAMES = 14
"""Columns of the names before values."""


def as_text(answer: Answer) -> Iterator[str]:
    """Lines for a terminal."""
    for number, each in enumerate(answer.ids):
        if number:
            yield ""
        yield from map(encodable, _inspection(each))
    for error in answer.errors:
        yield encodable(pgettext("sortable ids", "Not looked up: %(error)s") % {"error": error})


def as_document(answer: Answer) -> dict[str, Any]:
    """The same for ``json.dumps``. Numbers that JavaScript would round are texts."""
    return {
        "ids": [_document(each) for each in answer.ids],
        "not_looked_up": list(answer.errors),
    }


# Text


def _inspection(inspection: Inspection) -> Iterator[str]:
    yield texts.shown(inspection.text)
    if inspection.uuid:
        yield inspection.uuid.in_words
    if not inspection.is_id:
        yield _("This is not an id of any known scheme.")
    for each in inspection.in_full:
        yield ""
        yield from _candidate(details(each))
    yield from _rows(inspection.rows)
    if inspection.others:
        yield ""
        yield f"{pgettext('sortable ids', 'Other schemes')}:"
        yield from map(_short, inspection.others)
    if inspection.notes:
        yield ""
        yield from inspection.notes


def _candidate(found: Details) -> Iterator[str]:
    candidate = found.candidate
    reasons = "; ".join(candidate.reasons)
    yield f"{candidate.label}: {reasons}" if reasons else candidate.label
    if candidate.doubt:
        yield _line(pgettext("sortable ids", "not likely"), candidate.doubt)
    if found.utc:
        yield _line(pgettext("sortable ids", "time"), found.utc)
        if found.local:
            yield _line("", f"{found.local} {timezone.get_current_timezone_name()}")
    elif found.anatomy:
        yield _line(
            pgettext("sortable ids", "time"), pgettext("sortable ids", "after the year 9999")
        )
    if found.worker is not None:
        yield _line(pgettext("sortable ids", "worker"), found.worker)
    if found.sequence is not None:
        yield _line(pgettext("sortable ids", "sequence"), found.sequence)
    if found.is_newest_first:
        yield _line(
            pgettext("sortable ids", "order"), _("newest first: the digits are complements")
        )
    if found.anatomy:
        yield from _anatomy(found.anatomy)
    yield from _spelled(pgettext("sortable ids", "spellings"), found.spellings)
    if found.same:
        yield from _spelled(pgettext("sortable ids", "same bits in"), found.same)


def _anatomy(anatomy: Anatomy) -> Iterator[str]:
    if not anatomy.text:
        for part in anatomy.parts:
            yield _line(str(part.name), part.value)
        return
    heading = (
        pgettext("sortable ids", "bits")
        if anatomy.is_binary
        else pgettext("sortable ids", "digits")
    )
    for number, part in enumerate(anatomy.parts):
        value = f"{places(part):<16} {part.name}: {shown_value(anatomy, part)}"
        yield _line("" if number else heading, value)


def places(part: Part) -> str:
    """Where a part is: ``0-47, 52-63``."""
    return ", ".join(
        str(each.first) if each.width == 1 else f"{each.first}-{each.last}" for each in part.places
    )


def shown_value(anatomy: Anatomy, part: Part) -> str:
    """The value for people: in decimal, long ones in hexadecimal, fixed bits as they are."""
    if part.kind in ("variant", "fixed"):
        return anatomy.digits_of(part)
    if part.kind != "time" and part.value >= 1 << 40:
        return f"0x{part.value:x}"
    return str(part.value)


def _spelled(heading: str, spelled: Any) -> Iterator[str]:
    for number, (name, text) in enumerate(spelled.items()):
        yield _line("" if number else heading, f"{name:<16} {text}")


def _rows(rows: Iterable[Found]) -> Iterator[str]:
    for number, found in enumerate(rows):
        if not number:
            yield ""
        label = f"{found.column.field}: {found.public_id}"
        named = texts.shown(str(found.row))
        yield _line("" if number else pgettext("sortable ids", "row"), f"{label} ({named})")


def _short(candidate: Candidate) -> str:
    found = details(candidate)
    usual = candidate.is_usual_spelling
    name = candidate.label if usual else f"{candidate.label}, {candidate.encoding}"
    doubt = f"  {candidate.doubt}" if candidate.doubt else ""
    return f"    {name:<28} {found.utc or '-':<27}{doubt}".rstrip()


def _line(name: str, value: object) -> str:
    return f"    {padded(name, _NAMES)} {value}"


# JSON


def _document(inspection: Inspection) -> dict[str, Any]:
    facts = inspection.uuid
    return {
        "text": encodable(texts.shown(inspection.text, 400)),
        "is_id": inspection.is_id,
        "uuid": facts and {**facts._asdict(), "meaning": str(facts.meaning)},
        "candidates": [_candidate_document(details(each)) for each in inspection.candidates],
        "rows": [_row_document(each) for each in inspection.rows],
        "notes": list(inspection.notes),
    }


def _candidate_document(found: Details) -> dict[str, Any]:
    candidate = found.candidate
    return {
        "scheme": candidate.scheme.name,
        "title": candidate.label,
        "encoding": candidate.encoding,
        "fields": [str(each) for each in candidate.fields],
        "prefix": candidate.prefix,
        "is_likely": candidate.is_likely,
        "reasons": candidate.reasons,
        "doubt": candidate.doubt,
        "created_at": found.utc,
        "created_at_local": found.local,
        "tick": _text(found.tick),
        "worker": _text(found.worker),
        "sequence": _text(found.sequence),
        "newest_first": found.is_newest_first,
        "digits": found.anatomy and found.anatomy.text,
        "parts": [_part_document(each) for each in found.anatomy.parts] if found.anatomy else [],
        "spellings": dict(found.spellings),
        "same_in_other_schemes": dict(found.same),
    }


def _part_document(part: Part) -> dict[str, Any]:
    return {
        "kind": part.kind.value,
        "name": str(part.name),
        "value": str(part.value),
        "width": part.width,
        "places": [each._asdict() for each in part.places],
    }


def _row_document(found: Found) -> dict[str, Any]:
    return {
        "field": str(found.column.field),
        "pk": str(found.row.pk),
        "public_id": found.public_id,
        "is_old": found.is_old,
        "name": encodable(texts.shown(str(found.row), 200)),
    }


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)
