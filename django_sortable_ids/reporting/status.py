"""The progress of the backfills of a database, for another terminal and for the admin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS

from ..backfill.owner import is_alive, is_gone, silence
from ..backfill.progress import minutes, percent, share
from ..backfill.sources.id_column import check_table, find_field
from ..backfill.sources.target import database_option
from ..errors import counted
from ..fields import SortableIDField
from ..models import BackfillRun
from ..primary_keys.changes.moved import MAP

Condition = Literal["finished", "running", "stopped", "gone", "silent"]


@dataclass(frozen=True, slots=True)
class Status:
    run: BackfillRun
    has_field: bool
    """False where no model of the project has the field any more."""

    def lines(self) -> Iterator[str]:
        run = self.run
        yield f"{run.target}: {self._state()}"
        yield f"  {self._progress()}"
        if run.last_error:
            yield f"  last error: {run.last_error}"
        if self.state == "stopped" and not self.is_left_over:
            yield f"  continue with: {self.command}"
        if self.is_left_over:
            yield f"  the field no longer exists: delete the row of {run._meta.db_table}"

    def document(self) -> dict[str, Any]:
        run, left = self.run, self.seconds_left
        return {
            "field": run.target,
            "field_exists": self.has_field,
            "state": self.state,
            "owner": run.owner,
            "seconds_since_last_sign": round(silence(run), 1),
            "rows_filled": run.rows_filled,
            "rows_planned": self.rows_planned,
            "percent": percent(run.rows_filled, self.rows_planned),
            "rows_per_second": round(run.rate, 1) if is_alive(run) else None,
            "seconds_left": None if left is None else round(left, 1),
            "batch_size": run.batch_size,
            "last_error": run.last_error or None,
            "started_at": run.started_at,
            "updated_at": run.updated_at,
            "finished_at": run.finished_at,
        }

    @property
    def is_of_move(self) -> bool:
        """Whether it fills the map of a key, in a move that is not complete."""
        return not self.has_field and MAP.is_of(self.run.target)

    @property
    def is_left_over(self) -> bool:
        """Whether the run is left over from a field that no longer exists."""
        return not self.has_field and not self.is_of_move

    @property
    def condition(self) -> Condition:
        """``gone``: its host no longer has its process. ``silent``: its process has sent
        no heartbeat for a minute."""
        run = self.run
        if run.finished_at is not None:
            return "finished"
        if is_alive(run):
            return "running"
        if not run.token:
            return "stopped"
        return "gone" if is_gone(run) else "silent"

    @property
    def state(self) -> Literal["finished", "running", "stopped"]:
        condition = self.condition
        return condition if condition in ("finished", "running") else "stopped"

    @property
    def command(self) -> str:
        """What resumes the run, with the sources that it had; ``migrate``, if a move fills it."""
        name = "migrate" if self.is_of_move else f"backfill_ids {self.run.target}"
        return f"manage.py {name}{database_option(self.run._state.db or DEFAULT_DB_ALIAS)}"

    @property
    def rows_planned(self) -> int:
        """How many rows will be filled at the end; an estimate until then."""
        return max(self.run.rows_planned, self.run.rows_filled)

    @property
    def seconds_left(self) -> float | None:
        """None if it doesn't run, or has no rate yet."""
        run = self.run
        if not run.rate or not is_alive(run):
            return None
        return (self.rows_planned - run.rows_filled) / run.rate

    def _state(self) -> str:
        run = self.run
        heartbeat = f"last heartbeat {silence(run):.1f} s ago"
        match self.condition:
            case "finished":
                return f"finished at {run.finished_at:%Y-%m-%d %H:%M:%S %Z}".rstrip()
            case "running":
                return f"running, {run.owner}, {heartbeat}"
            case "stopped":
                return f"stopped, by {run.owner or 'an older version'}, {heartbeat}"
            case why:
                return f"stopped, {run.owner} is {why}, {heartbeat}"

    def _progress(self) -> str:
        run, left = self.run, self.seconds_left
        if run.finished_at is not None:
            return counted(run.rows_filled, "row")
        text = share(run.rows_filled, self.rows_planned).strip()
        if left is not None:
            text += f"  {run.rate:,.0f}/s  {minutes(left)} left"
        return f"{text}  batches of {run.batch_size:,}"


def of(using: str, target: str | None = None) -> list[Status]:
    """The backfills of a database, also those that a move of keys has started; with
    ``app.Model.field``, only the one of this field.

    Raises ``BackfillError`` if the database has no table of runs, and errors of the database.
    """
    check_table(BackfillRun, using)
    rows = BackfillRun.objects.using(using).order_by("target")
    if target is not None:
        rows = rows.filter(target=str(find_field(target)[1]))
    return [Status(run, _has_field(run.target)) for run in rows]


def _has_field(label: str) -> bool:
    try:
        app, model, name = label.split(".")
        return isinstance(apps.get_model(app, model)._meta.get_field(name), SortableIDField)
    except (LookupError, ValueError, FieldDoesNotExist):
        return False
