"""What is found when the ids of a table are verified."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

EXAMPLES = 3

IN_ORDER = ", strictly in order"
OF_THEIR_TIMES = ", and of their rows' times"


@dataclass(slots=True)
class Verification:
    """What was found. ``failures`` is empty where all is well."""

    rows: int = 0
    missing: int = 0
    skipped: int = 0
    """Rows that are to stay without an id: --on-null=skip, --on-out-of-range=skip."""
    duplicates: int = 0
    other_time: int = 0
    """Rows whose id is of another time: made by the application, or the time was edited since."""
    other_versions: int = 0
    """Rows with an accepted UUID of another version: it has no time and no place in the order."""
    refused_versions: int = 0
    """Rows with one that the field doesn't accept."""
    unordered: int = 0
    """Neighbours in (creation time, key) whose ids of those very times don't sort so."""
    unordered_beside: int = 0
    """And such among rows of times at which the application made ids, too."""
    unconverted: int = 0
    """Rows whose id was not made of the old one, though it should have been."""
    made_beside: int = 0
    """Rows whose id was not made of the old one, but together with it, by the application."""
    unjudged: int = field(default=0, compare=False)
    """Rows whose id may be that of another, as far as the order tells."""
    order: str = IN_ORDER
    """What is said of the order where all is well."""
    kept: str = OF_THEIR_TIMES
    """And what more, where no id was made by the application."""
    examples: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        found = {
            "rows have no id": self.missing,
            "rows share an id with another": self.duplicates,
            "rows are out of order": self.unordered,
            "rows have an id that was not made of their old one": self.unconverted,
            "rows have a UUID of another version, and the field no accept_other_versions=True": (
                self.refused_versions
            ),
        }
        return [f"{count:,} {what}" for what, count in found.items() if count]

    def misplaced(self, pk: Any, previous: Any) -> None:
        """Count a row whose id sorts in front of that of the previous one."""
        self.unordered += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{pk} comes after {previous}, its id does not")

    def lines(self) -> Iterator[str]:
        """The result, for people."""
        given = self.rows - self.missing - self.skipped
        yield f"{self.rows:,} rows, {given:,} with an id"
        if self.skipped:
            yield f"{self.skipped:,} rows were skipped: they have no time, or one out of range"
        if self.other_time:
            yield (
                f"{self.other_time:,} ids are of another time than their row: made by the "
                f"application, or the row's time was changed since"
            )
        if self.other_versions:
            yield f"{self.other_versions:,} ids are UUIDs of another version, which carry no time"
        if self.made_beside:
            yield f"{self.made_beside:,} ids are not the old ones converted: the application's own"
        if self.unordered_beside:
            yield (
                f"{self.unordered_beside:,} rows are out of order, but of times at which the "
                f"application made ids, too"
            )
        has_others = self.other_time or self.other_versions or self.made_beside
        order = ", the others strictly in order" if self.unordered_beside else self.order
        yield from self.failures or [f"all different{order}{'' if has_others else self.kept}"]
        yield from (f"  {example}" for example in self.examples)
