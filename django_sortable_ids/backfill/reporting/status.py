"""The progress of every backfill of a database, for another terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist

from ...fields import SortableIDField
from ...models import BackfillRun
from ..progress import minutes, percent, share
from ..sources.fields import check_table, find_field
from ..supervising.owner import is_alive, is_gone, silence


@dataclass(frozen=True, slots=True)
class Status:
    """One run and its progress."""

    run: BackfillRun
    has_field: bool
    """False where no model of the project has the field any more."""

    def lines(self) -> Iterator[str]:
        """The status as text."""
        run = self.run
        yield f"{run.target}: {self._state()}"
        yield f"  {self._progress()}"
        if run.last_error:
            yield f"  last error: {run.last_error}"
        if not self.has_field:
            yield "  the field no longer exists; to delete the run:"
            yield f"    DELETE FROM {BackfillRun._meta.db_table} WHERE target = '{run.target}';"

    def document(self) -> dict[str, Any]:
        """The status as JSON."""
        run, left = self.run, None
        if run.rate and is_alive(run):
            left = round(self._left / run.rate, 1)
        return {
            "field": run.target,
            "field_exists": self.has_field,
            "state": self.state,
            "owner": run.owner,
            "seconds_since_last_sign": round(silence(run), 1),
            "rows_filled": run.rows_filled,
            "rows_planned": self._planned,
            "percent": percent(run.rows_filled, self._planned),
            "rows_per_second": round(run.rate, 1) if is_alive(run) else None,
            "seconds_left": left,
            "batch_size": run.batch_size,
            "last_error": run.last_error or None,
            "started_at": run.started_at,
            "updated_at": run.updated_at,
            "finished_at": run.finished_at,
        }

    @property
    def state(self) -> str:
        """``finished``, ``running`` or ``stopped``."""
        if self.run.finished_at is not None:
            return "finished"
        return "running" if is_alive(self.run) else "stopped"

    def _state(self) -> str:
        run = self.run
        if run.finished_at is not None:
            return f"finished at {run.finished_at:%Y-%m-%d %H:%M:%S %Z}".rstrip()
        heartbeat = f"last heartbeat {silence(run):.1f} s ago"
        if is_alive(run):
            return f"running, {run.owner}, {heartbeat}"
        if not run.token:
            return f"stopped, by {run.owner or 'an older version'}, {heartbeat}"
        why = "is gone" if is_gone(run) else "is silent"
        return f"stopped, {run.owner} {why}, {heartbeat}"

    def _progress(self) -> str:
        run = self.run
        if run.finished_at is not None:
            return f"{run.rows_filled:,} rows"
        text = share(run.rows_filled, self._planned).strip()
        if run.rate and is_alive(run):
            text += f"  {run.rate:,.0f}/s  {minutes(self._left / run.rate)} left"
        return f"{text}  batches of {run.batch_size:,}"

    @property
    def _planned(self) -> int:
        return max(self.run.rows_planned, self.run.rows_filled)

    @property
    def _left(self) -> int:
        return self._planned - self.run.rows_filled


def statuses(using: str, target: str | None = None) -> Iterator[Status]:
    """The status of each run; ``target`` is ``app.Model.field``, None means all.

    Raises ``BackfillError`` if the database has no table of runs.
    """
    check_table(BackfillRun, using)
    runs = BackfillRun.objects.using(using).order_by("target")
    if target is not None:
        runs = runs.filter(target=str(find_field(target)[1]))
    for run in runs:
        yield Status(run, _has_field(run.target))


def lines(using: str, target: str | None = None) -> Iterator[str]:
    """The status of each run as text."""
    has_runs = False
    for status in statuses(using, target):
        has_runs = True
        yield from status.lines()
    if not has_runs:
        yield f"no backfill of {target or 'any column'} has started in the database {using!r}"


def _has_field(label: str) -> bool:
    try:
        app, model, name = label.split(".")
        return isinstance(apps.get_model(app, model)._meta.get_field(name), SortableIDField)
    except (LookupError, ValueError, FieldDoesNotExist):
        return False
