"""What the page of long work says of each backfill, check and move."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.formats import number_format
from django.utils.timesince import timesince
from django.utils.translation import gettext, npgettext, pgettext, pgettext_lazy

from ...backfill.progress import minutes
from ...backfill.reporting.checks import CheckStatus
from ...backfill.reporting.status import Status
from ...backfill.reporting.work import ACTIVE_SECONDS, Work
from ...primary_keys.status import MoveStatus

_SECONDS_SHOWN = 120
"""A longer time is shown in minutes and larger units."""
_CONDITIONS = {
    "running": pgettext_lazy("sortable ids", "Running"),
    "stopped": pgettext_lazy("sortable ids", "Stopped"),
    "gone": pgettext_lazy("sortable ids", "Killed"),
    "silent": pgettext_lazy("sortable ids", "No heartbeat"),
    "unfinished": pgettext_lazy("sortable ids", "Not complete"),
    "finished": pgettext_lazy("sortable ids", "Done"),
}
_ORDER = list(_CONDITIONS)


@dataclass(frozen=True, slots=True)
class Card:
    """One piece of work, as the template shows it."""

    kind: str
    name: str
    state: str
    """The last part of its CSS class."""
    facts: list[tuple[str, str | datetime]]
    percent: int | None = None
    """None where there is no number of rows."""
    error: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The state in words."""
        return str(_CONDITIONS[self.state])


def cards(work: Work) -> list[Card]:
    """The work of a database: what runs first, what is done last."""
    found = [
        *(_of_move(each) for each in work.moves),
        *(_of_run(each) for each in work.runs),
        *(_of_check(each) for each in work.checks),
    ]
    return sorted(found, key=lambda card: _ORDER.index(card.state))


def _of_run(status: Status) -> Card:
    run, condition = status.run, status.condition
    facts: list[tuple[str, str | datetime]] = []
    if condition == "finished":
        facts.append((pgettext("sortable ids", "Rows"), _number(run.rows_filled)))
    else:
        facts.append(
            (pgettext("sortable ids", "Rows"), _share(run.rows_filled, status.rows_planned))
        )
    if status.seconds_left is not None:
        facts.append((pgettext("sortable ids", "Rows per second"), _number(round(run.rate))))
        facts.append((pgettext("sortable ids", "Time left"), minutes(status.seconds_left)))
    if run.owner:
        facts.append((pgettext("sortable ids", "Process"), run.owner))
    if condition != "finished" and run.heartbeat:
        facts.append((pgettext("sortable ids", "Last heartbeat"), _ago(status.silence)))
    facts.append((pgettext("sortable ids", "Started"), run.started_at))
    if run.finished_at is not None:
        facts.append((pgettext("sortable ids", "Finished"), run.finished_at))
    notes = []
    if condition in ("stopped", "gone"):
        notes.append(gettext("To continue, start the same command again."))
    if condition == "silent":
        notes.append(
            gettext(
                "Its process is on another machine, or can't reach the database. To continue, "
                "start the same command again."
            )
        )
    if status.is_gone:
        notes.append(gettext("The field no longer exists. To delete the run:"))
        notes.append(status.deletion)
    percent = None if condition == "finished" else status.percent
    name = run.target
    return Card(
        pgettext("sortable ids", "Backfill"), name, condition, facts, percent, run.last_error, notes
    )


def _of_check(check: CheckStatus) -> Card:
    state = "running" if check.silence < ACTIVE_SECONDS else "stopped"
    facts: list[tuple[str, str | datetime]] = [
        (pgettext("sortable ids", "Rows"), _share(check.rows, check.rows_planned)),
        (pgettext("sortable ids", "Last result saved"), _ago(check.silence)),
    ]
    return Card(
        pgettext("sortable ids", "Check of ids"), check.run.target, state, facts, check.percent
    )


def _of_move(move: MoveStatus) -> Card:
    facts: list[tuple[str, str | datetime]] = []
    notes = []
    if move.step == "finished":
        facts.append((pgettext("sortable ids", "Finished"), move.since))
    else:
        step = {
            "filling": gettext("Rows get new keys"),
            "exchanging": pgettext("sortable ids", "Tables are exchanged"),
        }
        facts += [
            (pgettext("sortable ids", "Step"), step[move.step]),
            (pgettext("sortable ids", "Since"), move.since),
        ]
    if session := move.session:
        facts.append((pgettext("sortable ids", "Database session"), str(session.number)))
        facts.append((pgettext("sortable ids", "Its statement"), session.statement))
        facts.append((gettext("Time of the statement"), minutes(session.seconds)))
    elif move.step != "finished" and move.is_told:
        notes.append(gettext("No database session works on it now."))
    elif move.step != "finished":
        notes.append(gettext("SQLite does not tell whether a process works on it."))
    if move.state == "unfinished":
        notes.append(gettext("If it was stopped, “manage.py migrate” continues it."))
    kind = (
        gettext("Move back to old keys")
        if move.backwards
        else pgettext("sortable ids", "Move of keys")
    )
    return Card(kind, ", ".join(move.models), move.state, facts, None, "", notes)


def _number(number: int) -> str:
    return str(number_format(number, force_grouping=True))


def _share(done: int, total: int) -> str:
    return pgettext("sortable ids", "%(done)s of %(total)s") % {
        "done": _number(done),
        "total": _number(total),
    }


def _ago(seconds: float) -> str:
    if seconds < _SECONDS_SHOWN:
        count = round(seconds)
        text: Any = npgettext(
            "sortable ids", "%(count)s second ago", "%(count)s seconds ago", count
        )
        return str(text % {"count": count})
    now = timezone.now()
    return pgettext("sortable ids", "%(time)s ago") % {
        "time": timesince(now - timedelta(seconds=seconds), now)
    }
