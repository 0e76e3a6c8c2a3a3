"""``manage.py inspect_id``: decodes any id."""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from ...inspecting.inspection import Inspection, columns_of_project, in_one_line, inspect
from ...inspecting.parts import display_width
from ...schemes import all_schemes
from ...schemes.errors import encodable


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
            help="An id in any spelling, or a URL with an id. After --, it may begin with -.",
        )
        parser.add_argument(
            "--scheme",
            choices=sorted({scheme.name for scheme in all_schemes()}),
            metavar="NAME",
            help="Read the ids as ids of this scheme only, such as discord.",
        )
        parser.add_argument(
            "--no-rows",
            action="store_true",
            help="Don't connect to a database: only decode the ids.",
        )

    def handle(
        self, *, texts: list[str], no_rows: bool, scheme: str | None, **options: Any
    ) -> None:
        searched = columns_of_project()
        inspections = [
            inspect(text, searched, scheme=scheme, looks_up=not no_rows) for text in texts
        ]
        text = "\n\n".join("\n".join(as_text(inspection)) for inspection in inspections)
        self.stdout.write(encodable(text, getattr(self.stdout, "encoding", None) or "utf-8"))
        unknown = [inspection.text for inspection in inspections if not inspection.is_id]
        if unknown:
            no_id = _("This is not an id of any known scheme.")
            no_id += f" Without --scheme={scheme}, all schemes are tried." if scheme else ""
            raise CommandError(f"{', '.join(map(in_one_line, unknown))}: {no_id}")


_NAMES = 14
"""Columns of the names before values."""


def as_text(inspection: Inspection) -> Iterator[str]:
    yield in_one_line(inspection.text)
    if not inspection.is_id:
        yield _("This is not an id of any known scheme.")
    for candidate in inspection.in_full:
        yield ""
        yield f"{candidate.label}: {candidate.use}" if candidate.use else candidate.label
        if candidate.doubt:
            yield from _lines(pgettext("sortable ids", "not likely"), [candidate.doubt])
        times = [candidate.utc] if candidate.utc else []
        if candidate.local:
            local = candidate.local.isoformat(sep=" ", timespec="seconds")
            times.append(f"{local} {timezone.get_current_timezone_name()}")
        yield from _lines(pgettext("sortable ids", "time"), times)
        if candidate.is_newest_first:
            words = _("newest first: the digits are complements")
            yield from _lines(pgettext("sortable ids", "order"), [words])
        if candidate.anatomy:
            table = candidate.anatomy.table
            rows = (f"{places or '-':<16} {part.name}: {value}" for _, part, places, value in table)
            yield from _lines(pgettext("sortable ids", "parts"), rows)
        spelled = (f"{name:<16} {text}" for name, text in candidate.spellings.items())
        yield from _lines(pgettext("sortable ids", "spellings"), spelled)
    if inspection.rows:
        yield ""
        rows = (
            f"{row.column.field}: {row.public_id} ({in_one_line(str(row.row))})"
            for row in inspection.rows
        )
        yield from _lines(pgettext("sortable ids", "row"), rows)
    if inspection.others:
        yield ""
        yield f"{pgettext('sortable ids', 'Other schemes')}:"
        for candidate in inspection.others:
            name = candidate.label
            if not candidate.is_usual_spelling:
                name = f"{name}, {candidate.encoding}"
            doubt = candidate.doubt or ""
            yield f"    {name:<28} {candidate.utc or '-':<27}  {doubt}".rstrip()
    if inspection.notes:
        yield ""
        yield from inspection.notes
    for error in inspection.errors:
        yield pgettext("sortable ids", "Not looked up: %(error)s") % {"error": error}


def _lines(name: str, values: Iterable[str]) -> Iterator[str]:
    """Each value in a line, the first one after the name."""
    for value in values:
        yield f"    {name}{' ' * (_NAMES - display_width(name))} {value}"
        name = ""
