"""``manage.py inspect_id``: decodes any id."""

import json
import re
from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils import translation

from ...inspecting import report
from ...inspecting.inspection import inspect, shown
from ...inspecting.rows import columns_of_project
from ...schemes import all_schemes
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
            columns = columns_of_project(database)
            found = [inspect(text, columns, scheme=scheme, looks_up=not no_rows) for text in texts]
            if as_json:
                document = {"ids": [report.as_document(each) for each in found]}
                self.stdout.write(json.dumps(document, indent=2))
            else:
                blocks = ("\n".join(report.as_text(each)) for each in found)
                self.stdout.write("\n\n".join(blocks))
        unknown = [shown(each.text) for each in found if not each.is_id]
        if unknown:
            no_id = translation.gettext("This is not an id of any known scheme.")
            raise CommandError(f"{', '.join(unknown)}: {no_id}")
