"""``manage.py backfill_ids``: arguments and output; the work is done in ``backfill``."""

import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connections

from ... import next_migration
from ...backfill import (
    finding,
    leftovers,
    old_ids,
    owner,
    plan,
    replicas,
    report,
    run,
    status,
    verify,
)
from ...backfill.control import Control, Stopped, signals
from ...backfill.pace import Limits
from ...backfill.persistence import TriedTooLong
from ...backfill.progress import Progress
from ...backfill.target import OnNull, OnOutOfRange, Target
from ...backfill.verification import Verification

FIRST_BATCH = 5000
"""Rows, before anything is known of their speed."""

TARGET_TIME = 0.5
"""Seconds."""


class Command(BaseCommand):
    help = (
        "Gives the rows of an existing table sortable ids, in the order of their creation times. "
        "Without arguments: reports every sortable id of the project."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", nargs="?", metavar="app.Model.field")
        parser.add_argument("--created-from", metavar="FIELD", help="where creation times are")
        parser.add_argument(
            "--convert-from", metavar="FIELD", help="old ids, to convert as losslessly as can be"
        )
        parser.add_argument(
            "--batch-size",
            type=_positive,
            metavar="ROWS",
            help="in a transaction; without it, as many as take --target-time",
        )
        parser.add_argument("--status", action="store_true", help="how far the runs are")
        parser.add_argument("--dry-run", action="store_true", help="print the plan, write nothing")
        parser.add_argument("--verify", action="store_true", help="check the ids, write none")
        _add_policies(parser)
        parser.add_argument(
            "--database",
            choices=list(connections),
            help="without it the one that DATABASE_ROUTERS write the model to",
        )
        _add_pace(parser)

    def handle(
        self,
        *,
        target: str | None,
        created_from: str | None,
        convert_from: str | None,
        database: str | None,
        batch_size: int | None,
        **options: Any,
    ) -> None:
        if options["status"]:
            self._print(status.lines(database or finding.database_of(target), target))
            return
        if target is None:
            self._print(report.lines(database or finding.database_of(None)))
            return
        found = replace(
            old_ids.find(target, created_from, convert_from, database),
            on_null=options["on_null"],
            on_out_of_range=options["on_out_of_range"],
        )
        if options["verify"]:
            self._verify(found)
        elif options["dry_run"]:
            self._print(plan.build(found, batch_size or FIRST_BATCH).lines())
        else:
            owner.refuse_if_taken(found)
            lag = _lag(found.using, options["max_replica_lag"], options["replica"])
            limits = Limits(
                target_time=None if batch_size else options["target_time"],
                rows_per_second=options["max_rows_per_second"],
                sleep=options["sleep"],
                pause_file=options["pause_file"],
                retry_time=options["retry_time"],
            )
            self._fill(plan.build(found, batch_size or FIRST_BATCH), limits, lag)

    def _fill(self, planned: plan.Plan, limits: Limits, lag: Callable[[], str]) -> None:
        self._print(planned.lines())
        command = f"manage.py {planned.target.command}"
        try:
            with Progress(self.stdout, planned.missing) as progress:
                control = Control(progress.say, progress.show)
                with signals(control):
                    result = run.execute(planned, progress.add, limits, control, lag)
        except (KeyboardInterrupt, Stopped):
            raise CommandError(f"Stopped; every batch is whole. Go on with: {command}") from None
        except TriedTooLong as error:
            raise CommandError(f"{error}. Go on with: {command}") from error
        left = leftovers.fill(planned.target)
        self.stdout.write(self.style.SUCCESS(f"{result.filled + left:,} rows filled."))
        if result.remaining:
            self.stdout.write(
                f"{result.remaining:,} rows were inserted without an id meanwhile. Deploy the "
                f"field first, so that new rows get theirs, and run it again."
            )
        self.stdout.write(f"Next: {command} --verify")

    def _verify(self, target: Target) -> None:
        again = f"Go on with: manage.py {target.command} --verify"
        try:
            found = self._verified(target)
        except KeyboardInterrupt:
            raise CommandError(f"Stopped; nothing was judged yet. {again}") from None
        except OperationalError as error:
            raise CommandError(f"{error}. {again}") from error
        self._print(found.lines())
        if found.failures:
            raise CommandError(f"{target.label}: {'; '.join(found.failures)}")
        self._print(next_migration.lines(target))

    def _verified(self, target: Target) -> Verification:
        verifier = verify.Verifier(target)
        checkpoint = verifier.checkpoint
        done = checkpoint.found.rows
        if checkpoint.kept_at:
            self.stdout.write(
                f"Goes on behind the {done:,} rows that were looked at before "
                f"{checkpoint.kept_at:%Y-%m-%d %H:%M:%S %Z}".rstrip()
            )
        with Progress(self.stdout, checkpoint.total - done, is_brief=True) as progress:
            return verifier.verify(progress.add)

    def _print(self, lines: Any) -> None:
        for line in lines:
            self.stdout.write(line)


def _add_pace(parser: ArgumentParser) -> None:
    pace = parser.add_argument_group("pace")
    pace.add_argument(
        "--target-time",
        type=_seconds,
        default=TARGET_TIME,
        metavar="SECONDS",
        help=f"of a batch; {TARGET_TIME} by default",
    )
    pace.add_argument("--max-rows-per-second", type=_positive, metavar="ROWS")
    pace.add_argument(
        "--sleep", type=_seconds, default=0, metavar="SECONDS", help="between two batches"
    )
    pace.add_argument("--pause-file", type=Path, metavar="PATH", help="rest while it exists")
    pace.add_argument(
        "--max-replica-lag", type=_seconds, metavar="SECONDS", help="rest while it is more"
    )
    pace.add_argument(
        "--replica",
        choices=list(connections),
        metavar="ALIAS",
        help="the database to ask for its lag; without it PostgreSQL's primary is asked",
    )
    pace.add_argument(
        "--retry-time",
        type=_seconds,
        default=60,
        metavar="SECONDS",
        help="how long to try again where the database is away or rows are locked; 60",
    )


def _lag(database: str, most: float | None, replica: str | None) -> Callable[[], str]:
    if most is None:
        if replica is not None:
            raise CommandError("--replica says whom to ask; --max-replica-lag SECONDS is missing")
        return lambda: ""
    return replicas.watch(database, replica, most)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ArgumentTypeError(f"{text!r}: expected a number of seconds from 0")
    return seconds


def _add_policies(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--on-null",
        default="error",
        choices=get_args(OnNull),
        help="rows without a creation time: refuse, leave them, or give them ids of now",
    )
    parser.add_argument(
        "--on-out-of-range",
        default="error",
        choices=get_args(OnOutOfRange),
        help="times that the ids can't hold: refuse, leave the rows, or take the nearest time",
    )


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r}: expected a whole number of rows from 1")
    return int(text)
