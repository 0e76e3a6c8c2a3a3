"""How far a verification has come, kept so that the next one goes on there."""

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

RULES = 3
"""A verification is not continued by a version of this app that judges by others."""

LASTS = timedelta(days=1)
"""After so long the next one begins at the first row: what was right may not be so any more."""


@dataclass(slots=True)
class Checkpoint:
    total: int
    """How many rows there are to look at."""
    found: Verification
    place: Row | None = None
    """The last row that was looked at."""
    previous: Previous | None = None
    kept_at: datetime | None = None
    """None for a new one."""


def load(target: Target, run: BackfillRun | None) -> Checkpoint | None:
    """That of a verification which didn't come to its end, where it judged by the same run."""
    kept = _kept(target).first()
    if kept is None or kept.judged_by != _judged_by(target, run):
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
    """Nothing where the database can't be written to: it may be a replica."""
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
            target=target.label, defaults={"judged_by": _judged_by(target, run), "state": state}
        )


def forget(target: Target) -> None:
    """Have the next verification begin at the first row."""
    with suppress(Error), transaction.atomic(using=target.using):
        _kept(target).delete()


def _kept(target: Target) -> Any:
    return VerificationRun.objects.using(target.using).filter(target=target.label)


def _judged_by(target: Target, run: BackfillRun | None) -> dict[str, Any]:
    """What must not change between a start and its resumption."""
    policies = {"on_null": target.on_null, "on_out_of_range": target.on_out_of_range}
    of_run = run and {"started_at": run.started_at.isoformat(), "batches": run.batches}
    return {**target.options, **policies, "run": of_run, "rules": RULES}


def _load_previous(target: Target, place: dict[str, Any], value: str) -> Previous:
    created, pk = load_place(target, place)
    return pk, target.field.scheme.value_type(value), created
