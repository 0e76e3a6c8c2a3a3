"""The result of a verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import counted
from .sources.base import Expectation

EXAMPLES = 5
"""Rows of each kind that are shown."""
MANY = 100_000
"""Rows of each kind that are shown on request: so many texts fit into memory."""
SKIPPED = "skipped: without a time, or one out of range"
SHARE = 2.0
"""How many of 100 ids may be of another time than their row, by default."""


@dataclass(slots=True)
class Verification:
    """The counts of a verification. ``failures`` is empty if all is well."""

    rows: int = 0
    missing: int = 0
    skipped: int = 0
    """Rows that stay without an id: --on-null=skip, --on-out-of-range=skip."""
    malformed: int = 0
    """Rows whose stored value is not what the field stores for an id."""
    duplicates: int = 0
    other_versions: int = 0
    """Rows with an accepted UUID of another version: it has no time and no order."""
    refused_versions: int = 0
    """Rows with a UUID of another version that the field doesn't accept."""
    other_time: int = 0
    """Rows whose id has another time, by more than the application's ids differ."""
    not_of_run: int = 0
    """Rows whose id is of the application or another run: it has nearly their time, or an old id
    that no run converts."""
    without_time: int = 0
    """Rows with an id, but without a time, or with one out of the scheme's range. Such ids come
    from --on-null=now, another source or the application."""
    unreadable: int = 0
    """Rows whose time Django can't read."""
    unordered: int = 0
    """Rows whose id has their time, but doesn't sort after the id of the row before."""
    not_of_original: int = 0
    """History rows whose id is not the id of their original."""
    split: int = 0
    """Deleted originals whose history rows have several ids."""
    judged: int = field(default=0, compare=False)
    """Rows whose order was checked."""
    most: float = SHARE
    """How many of 100 ids may be of another time, or out of order within a tick."""
    expected: Expectation = field(default_factory=Expectation)
    is_decided: bool = False
    """Whether no edit of times explains rows out of order."""
    all_well: str = ""
    """The text if all is well; composed of the counts if it is empty."""
    shown: int = EXAMPLES
    """How many rows of each kind are examples."""
    examples_of: dict[str, list[str]] = field(default_factory=dict)
    """The first rows of each kind, by the name of its count."""
    notes: list[str] = field(default_factory=list)
    """What could not be checked."""

    @property
    def with_id(self) -> int:
        return self.rows - self.missing - self.skipped

    @property
    def edited(self) -> int:
        """Rows that an edit of their time explains."""
        return self.other_time + (0 if self.is_decided else self.unordered)

    @property
    def has_too_many_edits(self) -> bool:
        return self.edited > (self.with_id * self.most / 100 if self.expected.may_be_edited else 0)

    def count(self, kind: str, example: str) -> None:
        setattr(self, kind, getattr(self, kind) + 1)
        examples = self.examples_of.setdefault(kind, [])
        if len(examples) < self.shown:
            examples.append(example)

    def document(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "rows_with_id": self.with_id,
            "rows_without_id": self.missing,
            "rows_skipped": self.skipped,
            "malformed": self.malformed,
            "duplicates": self.duplicates,
            "out_of_order": self.unordered,
            "of_another_time": self.other_time,
            "of_nearly_the_same_time": self.not_of_run,
            "of_rows_without_time": self.without_time,
            "of_unreadable_time": self.unreadable,
            "of_other_versions": self.other_versions,
            "of_refused_versions": self.refused_versions,
            "not_of_original": self.not_of_original,
            "originals_with_several_ids": self.split,
            "failures": self.failures,
            "examples": [row for rows in self.examples_of.values() for row in rows],
        }

    @property
    def failures(self) -> list[str]:
        counts = {
            "without an id": self.missing,
            "with a value that is no id as the field stores it": self.malformed,
            "with a UUID of another version; the field lacks accept_other_versions=True": (
                self.refused_versions
            ),
            "with the id of another row": self.duplicates,
            "out of order": self.unordered if self.is_decided else 0,
            "with a time that can't be read": self.unreadable,
            "with another id than the original": self.not_of_original,
        }
        failures = [f"{counted(count, 'row')} {what}" for what, count in counts.items() if count]
        if self.split:
            failures.append(f"{counted(self.split, 'deleted original')} with several ids")
        if self.has_too_many_edits:
            failures.append(self._edits)
        return failures

    @property
    def _edits(self) -> str:
        if not self.expected.may_be_edited:
            return f"{counted(self.edited, 'row')} with an id not converted from the old one"
        return (
            f"{self.edited:,} of {self.with_id:,} ids are of another time than their row, or out "
            f"of order within a tick: more than {self.most:g} %. If your code sets the times of "
            f"new rows, give the field created_from=. If times were edited after the ids were "
            f"written, say so: --allow-edited-times=PERCENT"
        )

    def lines(self) -> Iterator[str]:
        """The result as text, but for the failures, which the error of the command names."""
        if not self.rows:
            yield "0 rows: nothing to verify"
            return
        yield f"{counted(self.rows, 'row')}, {self.with_id:,} with an id"
        if self.skipped:
            yield f"{counted(self.skipped, 'row')} {SKIPPED}"
        if self.without_time:
            yield (
                f"{counted(self.without_time, 'id')} of rows without a time, or with one out of "
                f"range: their times can't be compared"
            )
        if self.other_versions:
            yield f"{counted(self.other_versions, 'UUID')} of another version, without a time"
        if self.not_of_run:
            yield (
                f"{counted(self.not_of_run, 'id')} of the application or of another run: of nearly "
                f"the time of the row, or of a row that this run did not reach"
            )
        if self.edited and not self.has_too_many_edits:
            yield (
                f"{counted(self.edited, 'id')} of another time than the row, or out of order "
                f"within a tick: the time may have been edited; up to {self.most:g} % may be"
            )
        yield from self.notes
        if not self.failures and self.all_well:
            yield self.all_well
        elif not self.failures:
            parts = ["all different"]
            if self.judged > 1 or self.judged == self.with_id:
                is_all = self.expected.about_times or self.judged == self.with_id
                of_run = "" if is_all else "those of the run "
                parts.append(f"{'the others ' if self.edited else of_run}strictly in order")
            exceptions = (self.edited, self.without_time, self.other_versions, self.not_of_run)
            if self.expected.about_times and not any(exceptions):
                parts.append(f"and {self.expected.about_times}")
            yield ", ".join(parts)
        for examples in self.examples_of.values():
            yield from (f"  {example}" for example in examples)


Page = Sequence[tuple[Any, Any, Any]]
"""Place, key and stored value of each row."""

StoredID = tuple[int, Any]
"""The number of an id, and what it sorts by: tick and suffix, or the number if it has no time."""
