"""The modes of the command, except ``--verify``."""

from collections.abc import Callable

from django.core.management.base import CommandError

from ...backfill.planning import plan
from ...backfill.progress import Progress
from ...backfill.sources.fields import database_of
from ...backfill.supervising import owner, replicas, run
from ...backfill.supervising.control import Control, signals
from ...backfill.supervising.pace import Limits
from ...backfill.supervising.persistence import TriedTooLong
from ...backfill.target import Target
from ...errors import WrongArguments
from ...reporting import report, work
from . import documents
from .request import Request

FIRST_BATCH = 5000
"""Rows in the first batch, before the speed is known."""


def show_report(request: Request) -> None:
    database = request.options["database"]
    using = [database] if database else report.databases()
    if request.output.is_json:
        request.output.add(**documents.of_report(*report.look(*using)))
    else:
        request.output.say(*report.lines(*using))


def show_status(request: Request) -> None:
    label = request.options["target"]
    using = request.options["database"] or database_of(label)
    found = work.of(using, label)
    if request.output.is_json:
        request.output.add(**documents.of_work(found))
        return
    if not found.runs:
        request.output.say(
            f"no backfill of {label or 'any column'} has started in the database {using!r}"
        )
    request.output.say(*found.lines())


def show_plan(request: Request) -> None:
    with request.limited_lock_timeout():
        _plan(request, request.target())


def fill(request: Request) -> None:
    with request.limited_lock_timeout():
        _fill(request, request.target())


def _fill(request: Request, target: Target) -> None:
    owner.refuse_if_taken(target)
    lag = _lag(request, target.using)
    planned = _plan(request, target)
    again = request.given.again(target.command)
    try:
        with request.stopped("committed batches are kept", again):
            result = _execute(request, planned, lag)
    except TriedTooLong as error:
        request.output.add(next=again)
        raise CommandError(f"{error}. Continue with: {again}") from error
    following = request.given.then(target.command, "--verify")
    output = request.output
    output.add(rows_filled=result.filled, rows_left=result.remaining, next=following)
    output.say(request.success(f"{result.filled:,} rows filled."))
    if result.remaining:
        output.say(
            f"{result.remaining:,} rows were inserted concurrently without an id. Deploy the field "
            f"first, so that new rows get an id, and run the command again."
        )
    output.say(f"Next: {following}")


def _plan(request: Request, target: Target) -> plan.Plan:
    """Build the plan and show it."""
    planned = plan.build(target, request.options["batch_size"] or FIRST_BATCH)
    output = request.output
    if output.is_json:
        output.add(**documents.of_plan(planned))
    elif output.is_verbose:
        output.say(*planned.lines(with_sql=True))
    else:
        output.explain(planned.lines())
    return planned


def _execute(request: Request, planned: plan.Plan, lag: Callable[[], str]) -> run.Result:
    before = planned.filled_before
    output, total = request.output.progress, before + planned.rows
    with Progress(output, total, before=before) as progress:
        control = Control(progress.say, progress.show)
        with signals(control):
            return run.execute(planned, progress.add, _limits(request), control, lag)


def _limits(request: Request) -> Limits:
    options = request.options
    return Limits(
        target_time=None if options["batch_size"] else options["target_time"],
        rows_per_second=options["max_rows_per_second"],
        sleep=options["sleep"],
        pause_file=options["pause_file"],
        retry_time=options["retry_time"],
    )


def _lag(request: Request, database: str) -> Callable[[], str]:
    most, replica = request.options["max_replica_lag"], request.options["replica"]
    if most is None:
        if replica is not None:
            raise WrongArguments("--replica needs --max-replica-lag SECONDS: add it")
        return lambda: ""
    return replicas.watch(database, replica, most)
