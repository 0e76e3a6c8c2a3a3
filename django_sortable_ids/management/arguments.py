"""The arguments of ``backfill_ids``, and which of them can be combined."""

import math
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Mapping, Set
from functools import partial
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import CommandError, DjangoHelpFormatter
from django.db import connections

from .. import fields
from ..backfill.pace import MOST
from ..backfill.sources.find import ARGUMENTS
from ..backfill.sources.target import OnNull, OnOutOfRange
from ..backfill.verification import SHARE

TARGET_TIME = 0.5  # seconds

WRONG = 2
"""The exit code for wrong arguments, the same as that of argparse."""
CLOSED = 141
"""The exit code if stdout is closed, the same as that of other programs, which SIGPIPE ends."""

_POLICIES = {"on_null", "on_out_of_range"}
_OF_TARGETS = {*ARGUMENTS, *_POLICIES, "allow_triggers", "retry_time"}
_OF_MOVES = {"created_from", "start", "end", "on_null"}
"""A plan of a move chooses the other sources itself."""
_PACE = {
    *("batch_size", "target_time", "max_rows_per_second", "sleep", "pause_file"),
    *("max_replica_lag", "replica"),
}
_KEYS = {"primary_key", "to", "drop_old", "adopt", "leave", "allow"}
TAKES: Mapping[str, tuple[Set[str], str]] = {
    "report": (set(), "{} needs {}: add it"),
    "status": ({"status"}, "--status takes no {}: it only shows runs"),
    "plan": ({"dry_run", "batch_size", *_OF_TARGETS}, "--dry-run takes no {}: it fills no rows"),
    "verify": (
        {"verify", "write_migration", "allow_edited_times", *_OF_TARGETS},
        "--verify takes no {}: it fills no rows",
    ),
    "run": (_OF_TARGETS | _PACE, "{} needs {}: add it"),
    "move": (
        {*_KEYS, *_OF_MOVES, "write_migration"},
        "--primary-key takes no {}: it shows a plan, and with --write-migration writes that",
    ),
}
"""By mode: the options that it takes in addition to ``_COMMON``, and the refusal of others."""
_COMMON = {"database", "as_json"}

EXAMPLES = """\
examples:
  List the sortable ids of the project, and what is left to do for each:
    manage.py backfill_ids
  Show the plan, fill the rows, write the migration for NOT NULL and unique:
    manage.py backfill_ids shop.Order.public_id --dry-run \\
      --created-from created_at
    manage.py backfill_ids shop.Order.public_id --created-from created_at
    manage.py backfill_ids shop.Order.public_id --write-migration
  Convert the ids of another column; take times from a related row:
    manage.py backfill_ids shop.Order.public_id --convert-from old_uuid
    manage.py backfill_ids shop.Item.public_id \\
      --created-from order__created_at
  Move the primary keys of an app, with all that refers to them:
    manage.py backfill_ids shop --primary-key
  Watch a run from a second terminal:
    manage.py backfill_ids --status

exit codes:
  0    done; with --verify: no error was found
  1    refused, failed, or --verify found an error
  2    the arguments are wrong
  130  stopped by Ctrl-C; the same command continues
  141  stopped because nothing reads its output; the same command continues
  143  stopped by SIGTERM; the same command continues
"""


class _HelpFormatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the line breaks of the examples."""


def add(parser: ArgumentParser) -> None:
    parser.formatter_class = _HelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument(
        "target",
        nargs="?",
        metavar="app.Model.field",
        help="the field of the sortable id to fill, such as shop.Order.public_id; without it, "
        "report every sortable id of the project. With --primary-key: an app or app.Model",
    )
    parser.add_argument(
        "others",
        nargs="*",
        metavar="app.Model",
        help="with --primary-key: more apps or models; without any, the whole project",
    )
    modes = parser.add_argument_group(
        "modes", "At most one; without any, rows without an id get one."
    )
    modes.add_argument("--dry-run", action="store_true", help="print the plan; write nothing")
    modes.add_argument("--verify", action="store_true", help="check the ids; write no ids")
    modes.add_argument(
        "--allow-edited-times",
        type=_percent,
        metavar="PERCENT",
        help=f"with --verify: how many of 100 ids may be of another time; {SHARE:g} by default",
    )
    modes.add_argument("--status", action="store_true", help="show the progress of runs")
    modes.add_argument(
        "--write-migration",
        action="store_true",
        help="check the ids as --verify does, and write the migration that makes the column NOT "
        "NULL and unique; with --primary-key, the migration that moves the keys",
    )
    modes.add_argument(
        "--primary-key",
        action="store_true",
        help="show how the primary keys of the named models, which are sortable ids in the models "
        "but not in the migrations, are moved with all that refers to them; change nothing",
    )
    modes.add_argument(
        "--to",
        choices=[name for name in fields.__all__ if hasattr(getattr(fields, name), "scheme_name")],
        metavar="FIELD",
        help="with --primary-key: the class of the new keys, such as ULIDAutoField, for which the "
        "plan prints the edits and looks for what prevents the move; a UUIDv7 by default",
    )
    modes.add_argument(
        "--drop-old",
        action="store_true",
        help="with --primary-key: keep no field with the old keys, so the move can't be reversed",
    )
    modes.add_argument(
        "--adopt",
        action="append",
        metavar="TABLE.COLUMN=app.Model",
        help="with --primary-key: a column without a foreign key that contains keys of the model; "
        "TABLE.COLUMN=TABLE.OTHER for texts of keys whose content type is in the column OTHER. "
        "May be given several times",
    )
    modes.add_argument(
        "--leave",
        action="append",
        metavar="TABLE.COLUMN",
        help="with --primary-key: a column that the plan asks about, and that stays as it is; or a "
        "pattern. Repeatable",
    )
    parser.add_argument(
        "--allow",
        action="append",
        metavar="NAME",
        help="with --primary-key: a trigger, view, routine, event or rule that names a moved "
        "table, and that you have read; or a pattern such as 'pgtrigger_*'. Repeatable",
    )
    sources = parser.add_argument_group(
        "sources", "By default those of the last run on the column."
    )
    for name, settings in ARGUMENTS.items():
        sources.add_argument(f"--{name.replace('_', '-')}", **settings)
    sources.add_argument(
        "--on-null",
        choices=get_args(OnNull),
        help="rows without a creation time: refuse them (error), leave them without an "
        "id (skip), or use the current time (now)",
    )
    sources.add_argument(
        "--on-out-of-range",
        choices=get_args(OnOutOfRange),
        help="times that the ids can't contain: refuse them (error), or leave the rows "
        "without an id (skip)",
    )
    sources.add_argument(
        "--allow-triggers",
        action="store_true",
        help="fill even if an UPDATE changes more than the ids: by triggers, rules or history",
    )
    pace = parser.add_argument_group("pace")
    pace.add_argument(
        "--batch-size",
        type=_positive,
        metavar="ROWS",
        help="rows per transaction; by default as many as take --target-time",
    )
    pace.add_argument(
        "--target-time",
        type=_seconds,
        default=TARGET_TIME,
        metavar="SECONDS",
        help=f"the duration of a batch; {TARGET_TIME} by default",
    )
    pace.add_argument(
        "--max-rows-per-second", type=_positive, metavar="ROWS", help="fill no faster than this"
    )
    pace.add_argument(
        "--sleep", type=_seconds, default=0.0, metavar="SECONDS", help="pause between two batches"
    )
    pace.add_argument(
        "--pause-file", type=Path, metavar="PATH", help="pause while this file exists"
    )
    pace.add_argument(
        "--max-replica-lag",
        type=_seconds,
        metavar="SECONDS",
        help="with --replica: pause while it lags by more than this",
    )
    pace.add_argument(
        "--replica",
        choices=list(connections),
        metavar="ALIAS",
        help="the database of the replica whose lag is queried",
    )
    pace.add_argument(
        "--retry-time",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long to retry when the database is unavailable or rows are locked; 60 by default",
    )
    parser.add_argument(
        "--database",
        choices=list(connections),
        metavar="ALIAS",
        help="the database to use; by default the one that DATABASE_ROUTERS choose for writes",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        dest="as_json",
        help="print one JSON document; progress goes to stderr",
    )


def mode_of(options: Mapping[str, Any], given: Mapping[str, str]) -> str:
    """A key of ``TAKES``.

    ``given`` maps the keys of options that differ from their defaults to their names on the
    command line. Raises ``CommandError`` if options contradict each other: argparse doesn't check
    the options of ``call_command``.
    """
    chosen = [name for name in ("status", "dry_run", "verify") if options[name]]
    if options["write_migration"] and chosen != ["verify"]:
        chosen.append("write_migration")
    if options["primary_key"]:
        mode = "move"
    elif options["others"]:
        names = " ".join(options["others"])
        raise CommandError(f"{names}: only --primary-key takes several models", returncode=WRONG)
    elif len(chosen) > 1:
        *first, last = (given[name] for name in chosen)
        modes = f"{', '.join(first)} and {last}"
        raise CommandError(f"{modes} can't be combined: choose one of them", returncode=WRONG)
    elif chosen == ["status"]:
        mode = "status"
    elif options["target"] is None:
        mode = "report"
    else:
        mode = {"dry_run": "plan"}.get(chosen[0], "verify") if chosen else "run"
    taken, refusal = TAKES[mode]
    refused = [option for name, option in given.items() if name not in _COMMON | taken]
    if refused:
        usual = "app.Model.field" if mode == "report" else "--verify"
        needed = "--primary-key" if _KEYS & given.keys() else usual
        raise CommandError(refusal.format(" and ".join(refused), needed), returncode=WRONG)
    return mode


def _number(expected: str, most: float, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise ArgumentTypeError(f"{text!r}: expected {expected}")
    return number


_seconds = partial(_number, "a number of seconds, 0 or more", sys.float_info.max)
_percent = partial(_number, "a percentage from 0 to 100", 100)


def _positive(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MOST))
    if not is_number or not 1 <= int(text) <= MOST:
        raise ArgumentTypeError(f"{text!r}: expected a whole number of rows from 1 to {MOST:,}")
    return int(text)
