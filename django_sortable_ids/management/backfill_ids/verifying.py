"""``--verify``, and the migration that ``--write-migration`` writes after it."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.management.base import CommandError
from django.db import models, router

from ...backfill.progress import Progress
from ...backfill.sources.copies import Copies
from ...backfill.sources.fields import find_empty
from ...backfill.sources.find import Given
from ...backfill.target import Target, database_option
from ...backfill.verifying import verify
from ...backfill.verifying.copies import compare
from ...backfill.verifying.verification import Verification
from ...fields import SortableIDField
from ...migrating import next_migration
from ...migrating.next_migration import NextMigration, NotMigrated
from . import documents
from .request import Request


@dataclass(frozen=True, slots=True)
class _Subject:
    """The column whose ids are verified."""

    model: type[models.Model]
    field: SortableIDField
    using: str
    target: Target | None
    """None if the table is empty and no source of its ids is known."""

    @property
    def label(self) -> str:
        return str(self.field)

    @property
    def command(self) -> str:
        if self.target:
            return self.target.command
        return f"backfill_ids {self.label}{database_option(self.using)}"


def check(request: Request) -> None:
    """Check the ids, and write the next migration or print the command that writes it."""
    with request.limited_lock_timeout():
        _check(request)


def _check(request: Request) -> None:
    output, subject = request.output, _subject(request)
    if isinstance(subject.target, Copies):
        _compare(request, subject.target)
        return
    reason = next_migration.why_not_unique(subject.field, subject.using)
    if reason and request.options["write_migration"]:
        raise CommandError(f"{subject.label}: {reason}")
    following = _following(request, subject)
    result = _verified(request, subject.target) if subject.target else Verification()
    if subject.target:
        output.add(**documents.of_target(subject.target))
    output.add(field=subject.label, database=subject.using, migration=None, next=None)
    output.add(**result.document())
    output.explain(result.lines())
    if result.failures:
        raise CommandError(f"{subject.label}: {'; '.join(result.failures)}")
    if result.skipped:
        _keep_null(request, subject, result.skipped)
    elif reason:
        output.say(f"Next: {reason}.")
    elif not subject.model._meta.managed:
        _print_statements(request, subject)
    elif request.options["write_migration"]:
        _write(request, subject, following)
    elif following:
        command = request.given.then(subject.command, "--write-migration")
        output.add(next=command)
        output.say(*following.then(command))


def _subject(request: Request) -> _Subject:
    options = request.options
    if request.sources == Given():
        empty = find_empty(options["target"], options["database"])
        if empty:
            model, field = empty
            return _Subject(model, field, options["database"] or router.db_for_write(model), None)
    target = request.target()
    return _Subject(target.model, target.field, target.using, target)


def _compare(request: Request, target: Copies) -> None:
    """Check a history model, for whose column no migration follows."""
    if request.options["write_migration"]:
        raise CommandError(
            f"{target.label} is in a history model: several history rows have the id of one "
            f"original, so no migration can make the ids unique. Use --verify instead"
        )
    compared = compare(target)
    request.output.add(**documents.of_target(target), migration=None, next=None)
    request.output.add(**compared.document())
    request.output.explain(compared.lines())
    if compared.failures:
        raise CommandError(f"{target.label}: {'; '.join(compared.failures)}")


def _verified(request: Request, target: Target) -> Verification:
    again = request.given.again(target.command)
    verifier = verify.Verifier(target)
    checkpoint = verifier.checkpoint
    done = checkpoint.found.rows
    if checkpoint.kept_at:
        request.output.say(
            f"Continues after the {done:,} rows that were checked before "
            f"{checkpoint.kept_at:%Y-%m-%d %H:%M:%S %Z}".rstrip()
        )
    with (
        request.stopped("the check is not finished", again),
        Progress(request.output.progress, checkpoint.total, is_brief=True, before=done) as progress,
    ):
        return verifier.verify(progress.add)


def _following(request: Request, subject: _Subject) -> NextMigration | None:
    """The next migration; it is built before the ids are checked, which may take hours."""
    if not subject.model._meta.managed:
        return None
    try:
        return next_migration.following(subject.model, subject.field, subject.using)
    except NotMigrated:
        if request.options["write_migration"]:
            raise
        return None


def _keep_null(request: Request, subject: _Subject, skipped: int) -> None:
    """Say that no migration follows: rows without an id keep the column nullable."""
    request.output.say(
        f"No migration follows: {skipped:,} rows have no id, and {subject.field.name} can't become "
        f"NOT NULL before they have one. Until then it may be unique=True with null=True."
    )
    if request.options["write_migration"]:
        raise CommandError(
            f"{subject.label}: {skipped:,} rows were skipped and have no id, so the column can't "
            f"be NOT NULL. No migration was written. Give them ids, for example by --on-null=now "
            f"or --on-out-of-range=clamp"
        )


def _print_statements(request: Request, subject: _Subject) -> None:
    """Print the statements for an unmanaged table; nothing if its column is constrained."""
    sql = list(next_migration.statements(subject.model, subject.field, subject.using))
    request.output.add(statements=sql)
    if sql:
        then = next_migration.wanted(subject.model, subject.field, subject.using)
        request.output.say(
            f"Next: {subject.model._meta.label} is not managed, so no migration changes it. Run",
            f"this, and {next_migration.change_of(then)} in the model:",
            "",
            *sql,
        )


def _write(request: Request, subject: _Subject, following: NextMigration | None) -> None:
    app = subject.model._meta.app_label
    if following is None:
        request.output.say(
            f"Nothing to write: the migrations of {app} make {subject.field.name} NOT NULL and "
            f"unique already."
        )
        return
    following.file.write()
    command = request.given.then(f"migrate {app}{database_option(subject.using)}")
    request.output.add(migration=following.file.name, next=command)
    request.output.say(*following.lines(), *following.then(command))
