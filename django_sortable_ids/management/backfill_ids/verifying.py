"""``--verify``, and the migration that ``--write-migration`` writes after it."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.db import models, router
from django.db.models import QuerySet

from ...backfill.progress import Progress
from ...backfill.sources.base import Given
from ...backfill.sources.fields import check_tables, last_run, named_field, names_of
from ...backfill.sources.fields import notes as proxy_notes
from ...backfill.sources.find import of_source
from ...backfill.sources.history import Copies, compare
from ...backfill.sources.periods import Unsourced
from ...backfill.sources.target import Target, database_option
from ...backfill.verifying.verification import SHARE, Verification
from ...backfill.verifying.verify import refuse_hidden_rows, verify
from ...db import chunks
from ...errors import counted
from ...fields import history
from ...migrating import next_migration
from ...migrating.next_migration import NotMigrated
from ...primary_keys import notes
from .output import of_target
from .request import Request


def check(request: Request) -> None:
    """Check the ids, and write the next migration or print the command that writes it."""
    output, target, writes = request.output, _target(request), request.options["write_migration"]
    if isinstance(target.source, Copies):
        _compare(request, target, target.source)
        return
    model, field, using = target.model, target.field, target.using
    reason = next_migration.why_not_unique(field, using)
    if reason and writes:
        raise CommandError(f"{target.label}: {reason}")
    following = None
    if model._meta.managed:
        try:  # before the ids are checked, which may take hours
            following = next_migration.following(model, field, using)
        except NotMigrated:
            if writes:
                raise
    result = _verified(request, target)
    output.add(**of_target(target), migration=None, next=None, **result.document())
    output.explain(result.lines())
    is_key = field in model._meta.pk_fields
    if result.failures:
        advice = ""
        if not is_key and target.source.given:
            # Rows with wrong ids must lose them first.
            lost = result.failures[1:] or not result.missing
            how = "To give rows new ids, set those to NULL and run" if lost else "Run"
            advice = f". {how} {request.given.then(target.command)}"
        raise CommandError(f"{target.label}: {'; '.join(result.failures)}{advice}")
    if is_key:
        return
    if result.skipped:
        _keep_null(request, target, result.skipped)
    elif reason:
        output.say(f"Next: {reason}.")
    elif not model._meta.managed:
        _print_statements(request, target)
    elif following is None and writes:
        output.say(
            f"Nothing to write: the migrations of {model._meta.app_label} make {field.name} NOT "
            f"NULL and unique already."
        )
    elif following is not None and writes:
        following.file.write()
        command = request.given.then(f"migrate {model._meta.app_label}{database_option(using)}")
        output.add(migration=following.file.name, next=command)
        output.say(*following.lines(), *following.then(command))
    elif following is not None:
        command = request.given.then(target.command, "--write-migration")
        output.add(next=command)
        output.say(f"Next: {command}")


def _target(request: Request) -> Target:
    """The column to verify. Where no run, no move of keys and no argument says where the times come
    from, the ids have been generated, and have none to compare."""
    label, using, given = request.options["target"], request.options["database"], request.sources
    model, field = named_field(label)
    using = using or router.db_for_write(model)
    is_key = field in model._meta.pk_fields
    if not is_key and (given != Given() or history.original_of(model)):
        return request.target()
    check_tables(model, field, using)
    if is_key and given == Given():
        given = notes.source_of_key(model._meta.label, using) or given
    if given != Given() or last_run(str(field), using):
        request.output.say(*proxy_notes(label))
        return request.with_policies(of_source(model, field, given, using))
    has_times = names_of(model, models.DateField)
    if not is_key and has_times and QuerySet(model, using=using).exists():
        return request.target()  # which refuses: it names these columns
    return Target(field, Unsourced.of(model, using))


def _compare(request: Request, target: Target, source: Copies) -> None:
    """Check a history model, for whose column no migration follows."""
    if request.options["write_migration"]:
        raise CommandError(
            f"{target.label} is in a history model: several history rows have the id of one "
            f"original, so no migration can make the ids unique. Use --verify instead"
        )
    refuse_hidden_rows(target)
    compared = compare(target, source)
    request.output.add(**of_target(target), migration=None, next=None, **compared.document())
    request.output.explain(compared.lines())
    if compared.failures:
        raise CommandError(f"{target.label}: {'; '.join(compared.failures)}")


def _verified(request: Request, target: Target) -> Verification:
    again, most = request.given.again(target.command), request.options["allow_edited_times"]
    total = chunks.count(target.rows)
    with (
        request.stopped("nothing was changed", again),
        Progress(request.output.progress, total, is_brief=True) as progress,
    ):
        return verify(target, progress.add, SHARE if most is None else most)


def _keep_null(request: Request, target: Target, skipped: int) -> None:
    """Say that no migration follows: rows without an id keep the column nullable."""
    request.output.say(
        f"No migration follows: {counted(skipped, 'row')} without an id, and {target.field.name} "
        f"can't become NOT NULL before. Until then it may be unique=True with null=True."
    )
    if request.options["write_migration"]:
        raise CommandError(
            f"{target.label}: {counted(skipped, 'row')} skipped, without an id, so the column "
            f"can't be NOT NULL. No migration was written. Give them ids, for example by "
            f"--on-null=now or --on-out-of-range=clamp"
        )


def _print_statements(request: Request, target: Target) -> None:
    """Print the statements for an unmanaged table; nothing if its column is constrained."""
    sql = list(next_migration.statements(target.model, target.field, target.using))
    request.output.add(statements=sql)
    if sql:
        then = next_migration.wanted(target.model, target.field, target.using)
        request.output.say(
            f"Next: {target.model._meta.label} is not managed, so no migration changes it. Run",
            f"this, and {next_migration.change_of(then)} in the model:",
            "",
            *sql,
        )
