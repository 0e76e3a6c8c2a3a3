"""Batches of rows whose ids are converted from those in another column."""

from abc import abstractmethod
from collections.abc import Sequence

from django.db.models import Q

from ...errors import BackfillError
from ...schemes import ID, InvalidID, TimeScheme
from ..engines.base import Engine
from ..sources.conversion import Conversion, Lossless, Timed, TimedUUIDs
from ..target import Row
from .batch import NOTHING, Batch, Cursor, Written
from .minting import Position, mint
from .reading import SortedPages
from .writer import Writer


class Converter(Writer):
    """Converts in Python and writes by key, so that rows may be in any order."""

    target: Conversion

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self.next_rows(cursor, size)
        if not rows:
            return NOTHING
        ids, position = self.convert(rows, cursor.position if cursor else None, size)
        place, pk = rows[-1]
        return Batch(
            rows,
            len(rows),
            lambda: Written(self.send(rows, ids), Cursor(place, pk, position), rows[-1]),
        )

    def next_rows(self, cursor: Cursor | None, size: int) -> Sequence[Row]:
        """The next ``size`` rows without an id, or as many as there are."""
        return self.target.read(self.pending.all(cursor)[:size])

    def preview(self, rows: Sequence[Row]) -> Sequence[ID]:
        return self.convert(rows, None, len(rows) + 1)[0] if rows else ()

    @abstractmethod
    def convert(
        self, rows: Sequence[Row], position: Position | None, size: int
    ) -> tuple[Sequence[ID], Position | None]:
        """Ids for consecutive rows, and the position of the last one. Fewer than ``size`` rows are
        the last ones of the run.
        """

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        old = self.target.value(row[0])
        return BackfillError(
            f"stopped at {self.target.model._meta.label} {row[1]}, whose "
            f"{self.target.source.name} is {old}: {error}"
        )

    def _computing_ids(self) -> None:
        return None


class _LosslessConverter(Converter):
    target: Lossless

    def convert(
        self, rows: Sequence[Row], position: Position | None, size: int
    ) -> tuple[Sequence[ID], None]:
        return self.known(rows), None

    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
        return [self._convert(row) for row in rows]

    def _convert(self, row: Row) -> ID:
        try:
            return self.target.convert(row[0])
        except InvalidID as error:
            raise self.stopped(row, error) from error


class _TimedConverter(Converter):
    target: Timed

    def convert(
        self, rows: Sequence[Row], position: Position | None, size: int
    ) -> tuple[Sequence[ID], Position]:
        scheme = self._scheme
        times = []
        for row in rows:
            try:
                times.append(self.target.at(row[0]))
            except InvalidID as error:
                raise self.stopped(row, error) from error
        with self.naming(rows[-1]):
            more = self._count_in_tick(scheme, rows[-1]) if len(rows) == size else 0
            numbers, position = mint(scheme, list(map(scheme.tick, times)), position, more)
            return list(scheme.all_from_trusted(numbers)), position

    def _count_in_tick(self, scheme: TimeScheme, last: Row) -> int:
        """How many rows after that one share its tick."""
        end = scheme.tick_span(self.target.at(last[0]))[1]
        later: Q = self.target.after(*last) & self.target.between(None, end)
        return self.target.missing.filter(later).count()


class _TimedUUIDConverter(_TimedConverter):
    target: TimedUUIDs

    def __init__(self, target: TimedUUIDs, engine: Engine) -> None:
        super().__init__(target, engine)
        self._pages = SortedPages(target)

    def next_rows(self, cursor: Cursor | None, size: int) -> Sequence[Row]:
        return self._pages.after(cursor.place if cursor else None, size)

    def _count_in_tick(self, scheme: TimeScheme, last: Row) -> int:
        end = self.target.first_place(scheme.tick_span(self.target.at(last[0]))[1])
        known = None if end is None else self._pages.count_until(last, end)
        return super()._count_in_tick(scheme, last) if known is None else known


def writer_of(target: Conversion, engine: Engine) -> Converter:
    match target:
        case Lossless():
            return _LosslessConverter(target, engine)
        case TimedUUIDs():
            return _TimedUUIDConverter(target, engine)
    assert isinstance(target, Timed)
    return _TimedConverter(target, engine)
