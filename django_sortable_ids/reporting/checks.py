"""The progress of every ``--verify`` of a database that has not ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from ..backfill.progress import percent, share
from ..models import VerificationRun


@dataclass(frozen=True, slots=True)
class CheckStatus:
    """A verification that runs, or was stopped."""

    run: VerificationRun

    @property
    def rows(self) -> int:
        """How many rows were checked before the last checkpoint."""
        return int(self.run.state["found"]["rows"])

    @property
    def rows_planned(self) -> int:
        return max(int(self.run.state["total"]), self.rows)

    @property
    def percent(self) -> int:
        return percent(self.rows, self.rows_planned)

    @property
    def silence(self) -> float:
        """Seconds since the last checkpoint."""
        return abs((timezone.now() - self.run.updated_at).total_seconds())

    def lines(self) -> Iterator[str]:
        """The status as text."""
        checked = share(self.rows, self.rows_planned).strip()
        yield f"check of {self.run.target}: {checked}, last checkpoint {self.silence:.1f} s ago"

    def document(self) -> dict[str, Any]:
        """The status as JSON."""
        return {
            "field": self.run.target,
            "rows": self.rows,
            "rows_planned": self.rows_planned,
            "percent": self.percent,
            "seconds_since_last_sign": round(self.silence, 1),
            "updated_at": self.run.updated_at,
        }


def checks(using: str) -> Iterator[CheckStatus]:
    """Those that have a checkpoint: the first is stored after the first page of rows."""
    for run in VerificationRun.objects.using(using).order_by("target"):
        if "total" in run.state:
            yield CheckStatus(run)
