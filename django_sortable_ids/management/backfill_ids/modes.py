"""The modes of the command, except ``--verify`` and ``--primary-key``."""

from collections.abc import Callable
from dataclasses import replace

from django.core.management.base import CommandError

from ...backfill import owner, plan, run
from ...backfill.pace import Control, Limits, signals, watch
from ...backfill.progress import Progress
from ...backfill.run import TriedTooLong
from ...backfill.sources.fields import database_of
from ...backfill.sources.target import Target
from ...errors import WrongArguments, counted
from ...reporting import report, status
from .output import of_plan
from .request import Request

FIRST_BATCH = 5000
"""Rows in the first batch, before the speed is known."""


def show_report(request: Request) -> None:
    database = request.options["database"]
    using = [database] if database else report.databases()
    if request.output.is_json:
        entries, unanswered = report.look(*using)
        request.output.add(fields=[each.document() for each in entries], unanswered=unanswered)
    else:
        request.output.say(*report.lines(*using))


def show_status(request: Request) -> None:
    label, output = request.options["target"], request.output
    using = request.options["database"] or database_of(label)
    work = status.of(using, label)
    output.add(**work.document())
    if not work.runs:
        output.say(f"no backfill of {label or 'any column'} has started in the database {using!r}")
    output.say(*work.lines())


def show_plan(request: Request) -> None:
    _planned(request, request.target())


def fill(request: Request) -> None:
    """Give ids to the rows without one, and name the command that verifies them."""
    output, target = request.output, request.target()
    owner.refuse_if_taken(target)
    lag = _lag(request, target.using)
    planned = _planned(request, target)
    again = request.given.again(target.command)
    try:
        with request.stopped("committed batches are kept", again):
            result = _execute(request, planned, lag)
    except TriedTooLong as error:
        output.add(next=again)
        raise CommandError(f"{error}. Continue with: {again}") from error
    following = request.given.then(target.command, "--verify")
    output.add(rows_filled=result.filled, rows_left=result.remaining, next=following)
    output.say(f"{counted(result.filled, 'row')} filled.")
    if result.remaining:
        output.say(
            f"{counted(result.remaining, 'row')} inserted concurrently without an id. Deploy the "
            f"field first, so that new rows get an id, and run the command again."
        )
    output.say(f"Next: {following}")


def _planned(request: Request, target: Target) -> plan.Plan:
    """Build the plan and show it."""
    planned = plan.build(target, request.options["batch_size"] or FIRST_BATCH)
    output = request.output
    if output.is_json:
        output.add(**of_plan(planned))
    else:
        output.explain(planned.lines(with_sql=output.is_verbose))
    return planned


def _execute(request: Request, planned: plan.Plan, lag: Callable[[], str]) -> run.Result:
    options, before = request.options, planned.filled_before
    names = ("target_time", "max_rows_per_second", "sleep", "pause_file", "retry_time")
    limits = Limits(**{name: options[name] for name in names})
    if options["batch_size"]:
        limits = replace(limits, target_time=None)
    output, total = request.output.progress, before + planned.rows
    with Progress(output, total, before=before) as progress:
        control = Control(progress.say, progress.show)
        with signals(control):
            return run.execute(planned, progress.add, limits, control, lag)


def _lag(request: Request, database: str) -> Callable[[], str]:
    most, replica = request.options["max_replica_lag"], request.options["replica"]
    if most is not None:
        return watch(database, replica, most)
    if replica is not None:
        raise WrongArguments("--replica needs --max-replica-lag SECONDS: add it")
    return lambda: ""
