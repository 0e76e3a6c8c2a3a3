"""``manage.py inspect_id``: decodes any id."""

import json
import re
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from ...inspecting.candidates import Candidate
from ...inspecting.inspection import Inspection, inspect, shown
from ...inspecting.parts import columns
from ...inspecting.rows import columns_of_project
from ...schemes import all_schemes
from ...schemes.errors import encodable
from .. import quiet_pipe

_PUSH_ID = re.compile("-[0-9A-Za-z_][-0-9A-Za-z_]{18}")
"""A push id begins like an option."""


class Command(BaseCommand):
    help = (
        "Decodes ids: which schemes they may have, their time and other parts, their spellings, "
        "and the rows of the project that have them."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "texts",
            nargs="+",
            metavar="TEXT",
            help="An id in any spelling, or a URL with an id.",
        )
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="Print one JSON document."
        )
        parser.add_argument(
            "--scheme",
            choices=sorted({each.name for each in all_schemes()}),
            metavar="NAME",
            help="Read the ids as ids of this scheme only, such as discord.",
        )
        rows = parser.add_mutually_exclusive_group()
        rows.add_argument(
            "--database",
            choices=list(connections),
            help="Look up the rows in this database, instead of that of each model.",
        )
        rows.add_argument(
            "--no-rows",
            action="store_true",
            help="Don't connect to a database: only decode the ids.",
        )

    def run_from_argv(self, argv: list[str]) -> None:
        # argparse takes what begins with a blank for no option.
        argv = [f" {each}" if _PUSH_ID.fullmatch(each) else each for each in argv]
        with quiet_pipe():
            super().run_from_argv(argv)

    def handle(
        self,
        *,
        texts: list[str],
        as_json: bool,
        database: str | None,
        no_rows: bool,
        scheme: str | None,
        **options: Any,
    ) -> None:
        # Programs read the same words in every language.
        with translation.override(None) if as_json else nullcontext():
            searched = columns_of_project(database)
            found = [inspect(text, searched, scheme=scheme, looks_up=not no_rows) for text in texts]
            if as_json:
                document = {"ids": [as_document(each) for each in found]}
                self.stdout.write(json.dumps(document, indent=2))
            else:
                blocks = ("\n".join(map(encodable, as_text(each))) for each in found)
                self.stdout.write("\n\n".join(blocks))
        unknown = [shown(each.text) for each in found if not each.is_id]
        if unknown:
            no_id = _("This is not an id of any known scheme.")
            no_id += f" Without --scheme={scheme}, all schemes are tried." if scheme else ""
            raise CommandError(f"{', '.join(unknown)}: {no_id}")


# What is known of an id, for people and for programs

_NAMES = 14
"""Columns of the names before values."""


def as_text(inspection: Inspection) -> Iterator[str]:
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
