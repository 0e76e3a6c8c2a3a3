"""``manage.py backfill_ids``: arguments and output; the work is done in ``backfill``."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections

from ...backfill import plan, report, run, verify
from ...backfill.progress import Progress
from ...backfill.target import Target, find


class Command(BaseCommand):
    help = (
        "Gives the rows of an existing table sortable ids, in the order of their creation times. "
        "Without arguments: reports every sortable id of the project."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", nargs="?", metavar="app.Model.field")
        parser.add_argument("--created-from", metavar="FIELD", help="where creation times are")
        parser.add_argument("--batch-size", type=_positive, default=5000, metavar="ROWS")
        parser.add_argument("--dry-run", action="store_true", help="print the plan, write nothing")
        parser.add_argument("--verify", action="store_true", help="check the ids, write nothing")
        parser.add_argument("--database", default=DEFAULT_DB_ALIAS, choices=list(connections))

    def handle(
        self,
        *,
        target: str | None,
        created_from: str | None,
        database: str,
        batch_size: int,
        **options: Any,
    ) -> None:
        if target is None:
            self._print(report.lines(database))
            return
        found = find(target, created_from, database)
        if options["verify"]:
            self._verify(found)
        elif options["dry_run"]:
            self._print(plan.build(found, batch_size).lines())
        else:
            self._fill(plan.build(found, batch_size))

    def _fill(self, planned: plan.Plan) -> None:
        self._print(planned.lines())
        command = f"manage.py {planned.target.command}"
        try:
            with Progress(self.stdout, planned.missing) as progress:
                result = run.execute(planned, progress.add)
        except KeyboardInterrupt:
            raise CommandError(f"Stopped; every batch is whole. Go on with: {command}") from None
        self.stdout.write(self.style.SUCCESS(f"{result.filled:,} rows filled."))
        if result.remaining:
            self.stdout.write(
                f"{result.remaining:,} rows were inserted without an id meanwhile. Deploy the "
                f"field first, so that new rows get theirs, and run it again."
            )
        self.stdout.write(f"Next: {command} --verify")

    def _verify(self, target: Target) -> None:
        found = verify.verify(target)
        self._print(found.lines())
        if found.failures:
            raise CommandError(f"{target.label}: {'; '.join(found.failures)}")

    def _print(self, lines: Any) -> None:
        for line in lines:
            self.stdout.write(line)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r}: expected a whole number of rows from 1")
    return int(text)
