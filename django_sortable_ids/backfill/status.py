"""What every backfill of a database is at, as another terminal asks."""

from __future__ import annotations

from collections.abc import Iterator

from ..models import BackfillRun
from .owner import is_alive, is_gone, silence
from .progress import minutes


def lines(using: str, target: str | None = None) -> Iterator[str]:
    """Two or three lines for each run, for people; ``target`` is ``app.Model.field``, None all."""
    runs = BackfillRun.objects.using(using).order_by("target")
    if target is not None:
        runs = runs.filter(target=target)
    found = False
    for run in runs:
        found = True
        yield f"{run.target}: {_state(run)}"
        yield f"  {_progress(run)}"
        if run.last_error:
            yield f"  last error: {run.last_error}"
    if not found:
        yield f"no backfill of {target or 'any column'} has begun in the database {using!r}"


def _state(run: BackfillRun) -> str:
    if run.finished_at is not None:
        return f"finished at {run.finished_at:%Y-%m-%d %H:%M:%S %Z}".rstrip()
    sign = f"last sign {silence(run):.1f} s ago"
    if is_alive(run):
        return f"running, {run.owner}, {sign}"
    if not run.token:
        return f"stopped, by {run.owner or 'an older version'}, {sign}"
    died = "is gone" if is_gone(run) else "is silent"
    return f"stopped, {run.owner} {died}, {sign}"


def _progress(run: BackfillRun) -> str:
    if run.finished_at is not None:
        return f"{run.rows_filled:,} rows"
    left = max(0, run.rows_planned - run.rows_filled)
    text = f"{run.rows_filled:,}/{max(run.rows_planned, run.rows_filled):,} rows"
    if run.rate and is_alive(run):
        text += f"  {run.rate:,.0f}/s  {minutes(left / run.rate)} left"
    return f"{text}  batches of {run.batch_size:,}"
