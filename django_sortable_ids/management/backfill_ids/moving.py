"""``--primary-key``: the plan of a move of keys, and the migration that executes it."""

from __future__ import annotations

import importlib
from dataclasses import asdict
from pathlib import Path

from django.apps import apps
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader

from ...backfill.sources.target import database_option
from ...migrating.next_migration import migration_file
from ...primary_keys import plan as plans
from ...primary_keys.checklist import ADVICE, checklist, lines_of
from ...primary_keys.edits import is_installed
from ...primary_keys.plan import NotEdited, Planned
from ...primary_keys.report import report
from ...schemes.support import is_named
from .arguments import WRONG
from .request import Request

_OWN = ("django_sortable_ids", "0001_initial")


def move(request: Request) -> None:
    """Show the plan, and write the migration if that is asked for."""
    options, output = request.options, request.output
    using = options["database"] or DEFAULT_DB_ALIAS
    policies = {name: options[name] or "error" for name in ("on_null", "on_out_of_range")}
    if "skip" in policies.values():
        raise CommandError("skip leaves NULL, which no key may have", returncode=WRONG)
    try:
        planned = plans.build(
            request.given.labels,
            request.sources,
            using,
            keeps_old=not options["drop_old"],
            adopted=options["adopt"] or (),
            allowed=options["allow"] or (),
            policies=policies,
        )
    except NotEdited as unedited:
        needs_drop = not unedited.edits and not options["drop_old"]
        command = request.given.again() + " --drop-old" * needs_drop
        output.add(edits=[asdict(each) for each in unedited.edits], next=command)
        output.say(str(unedited), f"Next: edit, don't run makemigrations, then {command}")
        if options["write_migration"]:
            raise CommandError("No migration was written: edit the models first") from None
        return
    found = report(planned)
    least, most = found.seconds
    estimate = {"seconds_at_least": least, "seconds_at_most": most, "bytes": found.bytes}
    output.add(database=using, **asdict(found), estimate=estimate)
    output.add(migration=None, next=None)
    output.explain(found.lines(with_sql=output.is_verbose))
    listed, left = checklist(connections[using], planned.move.change), options["leave"] or ()
    undecided = [each for each in listed if not is_named(each.column, left)]
    output.add(findings=[{**asdict(each), "advice": ADVICE[each.kind]} for each in undecided])
    output.say(*lines_of(undecided, with_all=output.is_verbose))
    if not options["write_migration"]:
        command = request.given.again()
        output.add(next=f"{command} --write-migration")
        output.say(f"Next: {'decide, then ' * bool(undecided)}{command} --write-migration")
        return
    if undecided:
        all_left = " ".join(f"--leave {each.column}" for each in undecided)
        raise CommandError(
            f"No migration was written: decide about each column above, by --adopt, or by --leave "
            f"if it stays as it is: {all_left}"
        )
    # The migration follows the last ones of every app whose tables change.
    operation, loader = planned.operation, planned.loader
    app_label = _home(planned)
    leaves = {leaf for app in {*planned.apps, app_label} for leaf in loader.graph.leaf_nodes(app)}
    name = operation.migration_name_fragment
    file = migration_file(loader, app_label, name, sorted({*leaves, _OWN}), [operation])
    file.write()
    output.say(f"Wrote {file.name}")
    moved = app_label, file.path.stem
    for app, operations in planned.renamed.items():
        later = migration_file(loader, app, f"after_{file.path.stem}", [moved], operations)
        later.write()
        output.say(f"Wrote {later.name}, which gives keys and old keys their names")
    command = request.given.then(f"migrate{database_option(using)}")
    output.add(migration=file.name, next=command)
    output.say("Next: read it, stop the application, and run", f"  {command}")


def _home(planned: Planned) -> str:
    """The app of the first key whose migrations are the project's. For keys of installed packages
    only, another app: first those whose tables change."""
    of_keys = [each.model_key[0] for each in planned.operation.keys]
    every = [each.label for each in apps.get_app_configs()]
    for label in dict.fromkeys([*of_keys, *sorted(planned.apps), *every]):
        if planned.loader.graph.leaf_nodes(label) and _may_write(label):
            return label
    raise CommandError(
        f"{of_keys[0]} is an installed package, whose folder of migrations is not the project's, "
        f"and no app of the project has migrations: start some by `manage.py makemigrations`, or "
        f"copy those of {of_keys[0]} into the project and name them in MIGRATION_MODULES"
    )


def _may_write(app_label: str) -> bool:
    """Whether the migrations of the app are files of the project, as MIGRATION_MODULES may say."""
    name, _ = MigrationLoader.migrations_module(app_label)
    try:
        found = name and importlib.import_module(name)
    except ImportError:
        return False
    file = getattr(found, "__file__", None)
    return file is not None and not is_installed(Path(file))
