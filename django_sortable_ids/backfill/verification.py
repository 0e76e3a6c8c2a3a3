"""The result of a verification, and the ids as the database stores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connections

from ..errors import counted
from ..fields.storage import UUIDStorage
from ..schemes import TimeScheme
from .sources.base import Expectation
from .sources.target import Target

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
    generated: int = 0
    """Rows whose id has nearly their time, as ids of the application have."""
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
            "of_nearly_the_same_time": self.generated,
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
        if self.generated:
            yield (
                f"{counted(self.generated, 'id')} of the application or of another run: of nearly "
                f"the time of the row, or of a row that this run did not reach"
            )
        if self.edited and not self.has_too_many_edits:
            yield (
                f"{counted(self.edited, 'id')} of another time than the row, or out of order "
                f"within a tick: the time may have been edited; up to {self.most:g} % may be"
            )
        yield from self.notes
        if not self.failures:
            yield self.all_well or self._all_well
        for examples in self.examples_of.values():
            yield from (f"  {example}" for example in examples)

    @property
    def _all_well(self) -> str:
        parts = ["all different"]
        if self.judged > 1 or self.judged == self.with_id:
            parts.append("the others strictly in order" if self.edited else "strictly in order")
        exceptions = (self.edited, self.without_time, self.other_versions, self.generated)
        if self.expected.about_times and not any(exceptions):
            parts.append(f"and {self.expected.about_times}")
        return ", ".join(parts)


Page = Sequence[tuple[Any, Any, Any]]
"""Place, key and stored value of each row."""

StoredID = tuple[int, Any]
"""The number of an id, and what it sorts by: tick and suffix, or the number if it has no time."""

_READ_ERRORS = (ValueError, TypeError, AttributeError, OverflowError)
"""Raised for a stored value, of any type, that is no id."""


class Form:
    """Reads the stored values of pages, and counts values that are no ids in ``result``."""

    def __init__(self, target: Target, result: Verification) -> None:
        self._target, self._result = target, result
        self._scheme, self._field = target.field.scheme, target.field
        self._connection = connections[target.using]
        self._storage = target.field.stored(self._connection)
        is_uuid = isinstance(self._storage, UUIDStorage)
        self._is_native = is_uuid and self._connection.features.has_native_uuid_field
        """Whether the type of the column has one form of each value."""
        self._times = self._scheme if isinstance(self._scheme, TimeScheme) else None

    def ids_of(self, page: Page) -> list[StoredID | None]:
        """Each id; None for rows without one, and for values that are no ids of the scheme, which
        are counted."""
        result, values = self._result, [row[2] for row in page if row[2] is not None]
        result.rows += len(page)
        result.missing += len(page) - len(values)
        try:
            numbers = list(map(self._storage.from_db, values))
            written = (
                values if self._is_native else self._storage.all_to_db(numbers, self._connection)
            )
            is_clean = written == values
        except _READ_ERRORS:
            is_clean = False
        if is_clean and len(values) == len(page):
            if self._times:
                parts = self._times.layout.split_all(numbers)
                if None not in parts:
                    return list(zip(numbers, parts, strict=True))
            return [self._of_scheme(row, number) for row, number in zip(page, numbers, strict=True)]
        return [None if row[2] is None else self._id_of(row) for row in page]

    def _id_of(self, row: tuple[Any, Any, Any]) -> StoredID | None:
        stored = row[2]
        try:
            number = self._storage.from_db(stored)
            if self._is_native or self._storage.to_db(number, self._connection) == stored:
                return self._of_scheme(row, number)
        except _READ_ERRORS:
            pass
        self._malformed(row)
        return None

    def _of_scheme(self, row: tuple[Any, Any, Any], number: int) -> StoredID | None:
        """The id of a number, if it is one of the scheme's; others are counted."""
        times = self._times
        if times is None:
            if self._scheme.holds(number):
                return number, number
            self._malformed(row)
            return None
        parts = times.layout.split(number)
        if parts is not None:
            return number, parts
        if self._scheme.value_type is not UUID:
            self._malformed(row)
        elif self._field.accept_other_versions and self._scheme.holds(number):
            self._result.other_versions += 1
        else:
            shown = f"{row[1]} has {UUID(int=number)}"
            self._result.count("refused_versions", f"{shown}; {self._mending(row[1], None)}")
        return None

    def _malformed(self, row: tuple[Any, Any, Any]) -> None:
        """Count a stored value that is no id, or another spelling of one."""
        pk, stored = row[1:]
        value = bytes(stored) if isinstance(stored, memoryview) else stored
        try:
            meant = self._field.to_python(value.strip())
        except (ValidationError, *_READ_ERRORS):
            meant = None
        shown = f"{pk} has {value!r}, which is not stored as {self._scheme.title}"
        self._result.count("malformed", f"{shown}; {self._mending(pk, meant)}")

    def _mending(self, pk: Any, value: Any) -> str:
        """The statement that corrects a row: by another spelling, or by None for the next run."""
        if value is None and self._field in self._target.model._meta.pk_fields:
            return "give the row another key, or delete it"
        rows = f"{self._target.model.__name__}._base_manager.filter(pk={pk!r})"
        return f"{rows}.update({self._field.name}={value!r})"
