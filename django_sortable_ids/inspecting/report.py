"""What is known of an id, as text for people and as a document for programs."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from ..schemes.errors import encodable
from .candidates import Candidate
from .inspection import Inspection, shown
from .parts import columns

_NAMES = 14
"""Columns of the names before values."""


def as_text(inspection: Inspection) -> Iterator[str]:
    yield from map(encodable, _inspection(inspection))


def _inspection(inspection: Inspection) -> Iterator[str]:
    yield shown(inspection.text)
    if not inspection.is_id:
        yield _("This is not an id of any known scheme.")
    for each in inspection.in_full:
        yield ""
        yield from _candidate(each)
    if inspection.rows:
        yield ""
        rows = (
            f"{each.column.field}: {each.public_id} ({shown(str(each.row))})"
            for each in inspection.rows
        )
        yield from _lines(pgettext("sortable ids", "row"), rows)
    if inspection.others:
        yield ""
        yield f"{pgettext('sortable ids', 'Other schemes')}:"
        yield from map(_short, inspection.others)
    if inspection.notes:
        yield ""
        yield from inspection.notes
    for error in inspection.errors:
        yield pgettext("sortable ids", "Not looked up: %(error)s") % {"error": error}


def _candidate(found: Candidate) -> Iterator[str]:
    yield f"{found.label}: {found.use}" if found.use else found.label
    if found.doubt:
        yield from _lines(pgettext("sortable ids", "not likely"), [found.doubt])
    times = [found.utc] if found.utc else []
    if found.local:
        local = found.local.isoformat(sep=" ", timespec="seconds")
        times.append(f"{local} {timezone.get_current_timezone_name()}")
    yield from _lines(pgettext("sortable ids", "time"), times)
    if found.is_newest_first:
        words = _("newest first: the digits are complements")
        yield from _lines(pgettext("sortable ids", "order"), [words])
    if found.anatomy:
        table = found.anatomy.table
        rows = (f"{places or '-':<16} {part.name}: {value}" for _, part, places, value in table)
        yield from _lines(pgettext("sortable ids", "parts"), rows)
    spelled = (f"{name:<16} {text}" for name, text in found.spellings.items())
    yield from _lines(pgettext("sortable ids", "spellings"), spelled)


def _short(found: Candidate) -> str:
    usual = found.is_usual_spelling
    name = found.label if usual else f"{found.label}, {found.encoding}"
    return f"    {name:<28} {found.utc or '-':<27}  {found.doubt or ''}".rstrip()


def _lines(name: str, values: Iterable[str]) -> Iterator[str]:
    """Each value in a line, the first one after the name."""
    for value in values:
        yield f"    {name}{' ' * (_NAMES - columns(name))} {value}"
        name = ""


def as_document(inspection: Inspection) -> dict[str, Any]:
    """The same for ``json.dumps``. Numbers that JavaScript would round are texts."""
    return {
        "text": encodable(shown(inspection.text, 400)),
        "is_id": inspection.is_id,
        "candidates": [
            {
                "scheme": each.scheme.name,
                "title": each.label,
                "encoding": each.encoding,
                "fields": [str(field) for field in each.fields],
                "prefix": each.prefix,
                "is_likely": each.is_likely,
                "doubt": each.doubt,
                "created_at": each.utc,
                "newest_first": each.is_newest_first,
                "digits": each.anatomy and each.anatomy.text,
                "parts": [
                    {
                        "kind": part.kind.value,
                        "name": str(part.name),
                        "value": str(part.value),
                        "width": part.width,
                        "places": [place._asdict() for place in part.places],
                    }
                    for part in (each.anatomy.parts if each.anatomy else ())
                ],
                "spellings": dict(each.spellings),
            }
            for each in inspection.candidates
        ],
        "rows": [
            {
                "field": str(each.column.field),
                "pk": str(each.row.pk),
                "public_id": each.public_id,
                "is_old": each.is_old,
                "name": encodable(shown(str(each.row), 200)),
            }
            for each in inspection.rows
        ],
        "notes": list(inspection.notes),
        "not_looked_up": list(inspection.errors),
    }
