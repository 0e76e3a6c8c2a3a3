"""The modes of the command: the report, ``--status``, ``--dry-run``, the run, ``--primary-key`` and
``--verify``, with the migrations that the last two write."""

from __future__ import annotations

from dataclasses import asdict, replace

from django.core.management.base import CommandError
from django.db import connections, models, router
from django.db.models import QuerySet

from ..backfill import owner, plan, run
from ..backfill.pace import Control, Limits, Progress, signals, watch
from ..backfill.run import TriedTooLong
from ..backfill.sources import id_column
from ..backfill.sources.base import as_words
from ..backfill.sources.columns import times_of_creation
from ..backfill.sources.find import given_by, target_of
from ..backfill.sources.originals import Originals
from ..backfill.sources.periods import Unsourced
from ..backfill.sources.target import Target, database_option
from ..backfill.verification import SHARE, SKIPPED
from ..backfill.verify import compare, verify
from ..db.transactions import session_limits
from ..errors import WrongArguments, counted
from ..fields import history_models
from ..fields.of_model import is_unique_with_others
from ..fields.storage import FIND
from ..migrating import next_migration
from ..migrating.next_migration import NotMigrated, migration_file
from ..models import BackfillRun
from ..primary_keys import edits, move_plan, notes, obstacles
from ..primary_keys.checklist import ADVICE, checklist, columns_of, lines_of
from ..primary_keys.report import report as report_of_move
from ..schema.constraints import why_not_unique
from ..schemes.support import is_named
from . import reporting
from .arguments import WRONG
from .request import Request, of_target

FIRST_BATCH = 5000  # rows, before the speed is known


def show_report(request: Request) -> None:
    database = request.options["database"]
    using = [database] if database else reporting.databases()
    reported, unanswered = reporting.look(*using)
    request.output.add(fields=[entry.document() for entry in reported], unanswered=unanswered)
    request.output.say(*reporting.lines(reported, unanswered, using))


def show_status(request: Request) -> None:
    label, output = request.options["target"], request.output
    using = request.options["database"] or id_column.database_of(label)
    statuses = reporting.statuses(using, label)
    output.add(database=using, runs=[status.document() for status in statuses])
    if not statuses:
        output.say(f"no backfill of {label or 'any column'} has started in the database {using!r}")
    output.say(*(line for status in statuses for line in status.lines()))


def fill(request: Request) -> None:
    """Give ids to the rows without one, and name the command that verifies them."""
    options, output, target = request.options, request.output, request.target()
    owner.refuse_if_taken(target)
    names = ("target_time", "max_rows_per_second", "sleep", "pause_file", "retry_time")
    limits = Limits(**{name: options[name] for name in names})
    if options["batch_size"]:
        limits = replace(limits, target_time=None)
    most, replica = options["max_replica_lag"], options["replica"]
    if most is not None and replica is not None:
        limits = replace(limits, why_wait=watch(replica, most))
    elif most is not None or replica is not None:
        raise WrongArguments("--max-replica-lag and --replica need each other: give both")
    planned = planned_for(request, target)
    before, again = planned.filled_before, request.line.again(target.command)
    # The source is omitted: the run has stored it.
    verifying = f"backfill_ids {target.label}{target.more_options}"
    following = request.line.then(verifying, "--verify")
    try:
        with request.stopped("committed batches are kept", again):
            with Progress(output.progress, before + planned.rows, before=before) as progress:
                control = Control(progress.say)
                with signals(control):
                    result = run.execute(planned, progress.add, limits, control)
            with session_limits(target.using):  # The run has set its own back.
                skipped = target.skipped.count()
            output.add(rows_filled=result.filled, rows_left=result.remaining, rows_skipped=skipped)
            output.add(next=following)
            output.say(f"{counted(result.filled, 'row')} filled.")
            if skipped:
                output.say(f"{counted(skipped, 'row')} {SKIPPED}")
            if result.remaining:
                output.say(
                    f"{counted(result.remaining, 'row')} inserted concurrently without an id. "
                    f"Deploy the field first, so that new rows get an id, and run the command "
                    f"again."
                )
            output.say(f"Next: {following}")
    except TriedTooLong as error:
        output.add(next=again)
        raise CommandError(f"{error}. Continue with: {again}") from error


def planned_for(request: Request, target: Target) -> plan.Plan:
    planned = plan.build(target, request.options["batch_size"] or FIRST_BATCH)
    plan.check_future(target)
    output = request.output
    least, most = (round(seconds, 1) for seconds in planned.seconds)
    output.add(
        **of_target(target),
        order=list(target.source.order),
        rows_without_id=planned.rows,
        rows_filled_before=planned.filled_before,
        batch_size=planned.batch_size,
        estimate={"seconds_at_least": least, "seconds_at_most": most},
        samples=list(planned.samples),
        warnings=list(planned.warnings),
        statements=[{"when": when, "sql": sql} for when, sql in planned.writer.shown_statements],
    )
    output.say(*planned.lines(with_sql=output.is_verbose))
    if request.options["dry_run"]:
        line = replace(request.line, words={**request.line.words, "dry_run": ()})
        command = line.again(target.command)
        output.add(next=command)
        output.say(f"Next: {command}")
    return planned


def move(request: Request) -> None:
    options, output = request.options, request.output
    using = options["database"] or edits.database_of(request.line.labels)
    if options["on_null"] == "skip":
        raise CommandError("--on-null=skip leaves NULL, which no key may have", returncode=WRONG)
    try:
        planned = move_plan.build(
            request.line.labels,
            request.given,
            using,
            keeps_old=not options["drop_old"],
            to=options["to"],
            adopted=options["adopt"] or (),
            allowed=options["allow"] or (),
            on_null=options["on_null"] or "error",
        )
    except edits.NotEdited as unedited:
        command = request.line.again()
        output.add(edits=[asdict(edit) for edit in unedited.edits], next=command)
        output.say(str(unedited), f"Next: edit, don't run makemigrations, then {command}")
        if options["write_migration"]:
            raise CommandError("No migration was written: edit the models first") from None
        return
    left = options["leave"] or ()
    known = columns_of(connections[using]) if left else ()
    obstacles.refuse_unknown("--leave", left, known, "column")
    report = report_of_move(planned)
    least, most = report.seconds
    estimate = {"seconds_at_least": least, "seconds_at_most": most, "bytes": report.bytes}
    output.add(database=using, **asdict(report), estimate=estimate, warnings=planned.warnings)
    output.add(migration=None, next=None)
    output.say(*report.lines(), *(f"warning: {warning}" for warning in planned.warnings))
    listed = checklist(connections[using], planned.engine.change)
    asked = [finding for finding in listed if not is_named(finding.column, left)]
    output.add(findings=[{**asdict(finding), "advice": ADVICE[finding.kind]} for finding in asked])
    output.say(*lines_of(asked))
    if not options["write_migration"]:
        command = request.line.again()
        output.add(next=f"{command} --write-migration")
        decision = "decide, then " if asked else ""
        output.say(f"Next: {decision}{command} --write-migration")
        return
    if asked:
        all_left = " ".join(f"--leave {finding.column}" for finding in asked)
        raise CommandError(
            f"No migration was written: decide about each column above, by --adopt, or by --leave "
            f"if it stays as it is: {all_left}"
        )
    # The migration follows the last ones of every app whose tables change.
    operation, loader = planned.operation, planned.loader
    app_label = operation.keys[0].model_key[0]
    leaves = {leaf for app in planned.apps for leaf in loader.graph.leaf_nodes(app)}
    name = operation.migration_name_fragment
    leaves.add((BackfillRun._meta.app_label, "0001_initial"))
    file = migration_file(loader, app_label, name, sorted(leaves), [operation])
    file.write()
    output.say(f"Wrote {file.name}")
    command = request.line.then(f"migrate{database_option(using)}")
    output.add(migration=file.name, next=command)
    output.say("Next: read it, stop the application, and run", f"  {command}")


def verify_ids(request: Request) -> None:
    """Check the ids, and write the next migration or print the command that writes it."""
    output, target, writes = request.output, _target(request), request.options["write_migration"]
    source = target.source
    if isinstance(source, Originals):
        _compare(request, target, source)
        return
    model, field, using = target.model, target.field, target.using
    # It may be unique together with other columns.
    is_alone = not is_unique_with_others(field)
    reason = why_not_unique(connections[using], field) if is_alone else None
    if reason and writes:
        raise CommandError(f"{target.label}: {reason}")
    following, is_written = None, False
    if model._meta.managed:
        try:  # before the ids are checked, which may take hours
            following = next_migration.following(model, field, using)
            is_written = following is None
        except NotMigrated:
            if writes:
                raise
    again, most = request.line.again(target.command), request.options["allow_edited_times"]
    total = target.rows.count()
    with (
        request.stopped("nothing was changed", again),
        Progress(output.progress, total, is_brief=True) as progress,
    ):
        try:
            most = SHARE if most is None else most
            result = verify(target, progress.add, most, output.examples)
        except ValueError as error:  # of a key: SQLite stores any value in any column
            raise CommandError(
                f"{str(error).partition(FIND)[0]}`manage.py check --database {using}` says what to "
                f"do"
            ) from None
    output.add(**of_target(target), migration=None, next=None, **result.document())
    output.say(*result.lines())
    is_key = field in model._meta.pk_fields
    if result.failures:
        advice, last = "", id_column.last_run(target.label, using)
        if last and (given := given_by(last.options)) != given_by(target.options):
            advice = (
                f". They are of a run with {as_words(given)}: omit the source to compare them with "
                f"it; if its field was renamed, delete the BackfillRun"
            )
        elif not is_key and source.as_arguments:
            advice = (
                f". If ids are of another source, name that. To give rows new ids, set wrong ones "
                f"to NULL and run {request.line.then(target.command)}"
            )
        raise CommandError(f"{target.label}: {'; '.join(result.failures)}{advice}")
    if not is_key:
        _say_next(request, target, result.skipped, reason, following, is_written=is_written)
    elif writes:
        output.say("Nothing to write: it is the primary key.")


def _compare(request: Request, target: Target, originals: Originals) -> None:
    """Compare the ids of history rows with those of their originals."""
    output = request.output
    if request.options["write_migration"]:
        raise CommandError(
            f"{target.label} is in a history model: several history rows have the id of one "
            f"original, so no migration can make the ids unique. Use --verify instead"
        )
    result = compare(target, originals, output.examples)
    output.add(**of_target(target), migration=None, next=None, **result.document())
    output.say(*result.lines())
    if result.failures:
        raise CommandError(f"{target.label}: {'; '.join(result.failures)}")


def _say_next(
    request: Request,
    target: Target,
    skipped: int,
    reason: str | None,
    following: next_migration.MigrationFile | None,
    *,
    is_written: bool,
) -> None:
    """Write the migration that follows, or say what does; ``reason``: why the ids can't be unique.
    ``is_written``: there are migrations, and none follows."""
    output, writes = request.output, request.options["write_migration"]
    model, field = target.model, target.field
    if skipped:
        # Rows without an id keep the column nullable.
        why = (
            f"{counted(skipped, 'row')} skipped, without an id: correct their times, or "
            f"give them ids, for example by --on-null=now. Until then, {field.name} may be "
            f"unique=True with null=True"
        )
        if writes:
            raise CommandError(f"{target.label}: no migration was written, because of {why}")
        output.say(f"No migration follows, because of {why}.")
    elif reason:
        output.say(f"Next: {reason}.")
    elif not model._meta.managed:
        if field.null or not field.unique:
            output.say(
                f"Next: {model._meta.label} is not managed, so no migration changes it: make "
                f"{model._meta.db_table}.{field.column} NOT NULL and unique, and write unique=True "
                f"instead of null=True in the model"
            )
    elif is_written and (writes or field.null):
        output.say(
            f"Nothing to write: the migrations of {model._meta.app_label} make {field.name} NOT "
            f"NULL and unique already; define it so in the model, too."
        )
    elif following is not None and writes:
        following.write()
        command = request.line.then(
            f"migrate {model._meta.app_label}{database_option(target.using)}"
        )
        output.add(migration=following.name, next=command)
        edit = f" {following.change} in the model, then:" if following.change else ""
        output.say(f"Wrote {following.name}", f"Next:{edit}", f"  {command}")
    elif following is not None:
        command = request.line.then(target.command, "--write-migration")
        output.add(next=command)
        output.say(f"Next: {command}")


def _target(request: Request) -> Target:
    """The column to verify. Where no run, no move of keys and no argument says where the times come
    from, the ids have been generated, and have none to compare."""
    label, using, given = request.options["target"], request.options["database"], request.given
    model, field = id_column.named_field(label)
    using = using or router.db_for_write(model)
    is_key = field in model._meta.pk_fields
    if not is_key and (given or history_models.original_of(model)):
        return request.target()
    id_column.check_schema(model, field, using)
    id_column.check_applied(model, field, using)
    if is_key and not given:
        given = notes.source_of_key(model._meta.label, using) or given
    if given or id_column.last_run(str(field), using):
        return request.with_policies(target_of(model, field, given, using))
    times = id_column.names_of(model, models.DateField)
    rows: QuerySet[models.Model] = QuerySet(model, using=using)
    if not is_key and rows.filter(**{f"{field.name}__isnull": True}).exists():
        created = times_of_creation(model)
        source = ("--created-from", *created) if len(created) == 1 else ()
        command = request.line.then(f"backfill_ids {field}", *source)
        raise CommandError(f"{field}: rows have no id yet. Fill them first: {command}")
    if not is_key and times and rows.exists():
        return request.target()  # which refuses: it names these columns
    return Target(field, Unsourced.of(model, using))
