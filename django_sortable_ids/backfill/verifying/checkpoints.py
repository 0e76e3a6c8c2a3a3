"""The progress of a verification, stored so that the next one resumes there."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import Error, transaction
from django.utils import timezone

from ...models import BackfillRun, VerificationRun
from ..target import Row, Target
from ..writing.batch import dump_place, load_place
from .pages import Previous
from .verification import Verification

RULES = 4
"""The version of the checks: a verification is continued with the same one only."""

LASTS = timedelta(days=1)
"""After this time, the next verification starts at the first row: checked rows may have changed."""


@dataclass(slots=True)
class Checkpoint:
    total: int
    """Number of rows to check."""
    found: Verification
    place: Row | None = None
    """The last checked row."""
    previous: Previous | None = None
    kept_at: datetime | None = None
    """When it was stored; None for a new one."""


def load(target: Target, run: BackfillRun | None) -> Checkpoint | None:
    """The checkpoint of an unfinished verification of the same run, at most a day old."""
    kept = _kept(target).first()
    if kept is None or kept.judged_by != _conditions(target, run):
        return None
    if timezone.now() - kept.updated_at > LASTS:
        return None
    state, previous = kept.state, kept.state["previous"]
    return Checkpoint(
        total=state["total"],
        found=Verification(**state["found"]),
        place=load_place(target, state["place"]),
        previous=previous and _load_previous(target, *previous),
        kept_at=kept.updated_at,
    )


def save(target: Target, run: BackfillRun | None, checkpoint: Checkpoint) -> None:
    """Store the checkpoint. Does nothing if the database is read-only, as a replica is."""
    assert checkpoint.place is not None, "a page has a last row"
    previous = checkpoint.previous
    state = {
        "total": checkpoint.total,
        "found": asdict(checkpoint.found),
        "place": dump_place(checkpoint.place),
        "previous": previous and [dump_place((previous[2], previous[0])), str(previous[1])],
    }
    with suppress(Error), transaction.atomic(using=target.using):
        _kept(target).update_or_create(
            target=target.label, defaults={"judged_by": _conditions(target, run), "state": state}
        )


def forget(target: Target) -> None:
    """Delete the checkpoint: the next verification starts at the first row."""
    with suppress(Error), transaction.atomic(using=target.using):
        _kept(target).delete()


def _kept(target: Target) -> Any:
    return VerificationRun.objects.using(target.using).filter(target=target.label)


def _conditions(target: Target, run: BackfillRun | None) -> dict[str, Any]:
    """The values that must not change between a start and its resumption."""
    policies = {"on_null": target.on_null, "on_out_of_range": target.on_out_of_range}
    of_run = run and {"started_at": run.started_at.isoformat(), "batches": run.batches}
    return {**target.options, **policies, "run": of_run, "rules": RULES}


def _load_previous(target: Target, place: dict[str, Any], value: str) -> Previous:
    created, pk = load_place(target, place)
    return pk, target.field.scheme.value_type(value), created
