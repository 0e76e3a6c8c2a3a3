"""Writers for rows whose times the database can't compute with."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import groupby

from ...schemes import ID, InvalidID
from ..sources.conversion import Lossless
from ..target import Row
from .batch import NOTHING, Batch, Cursor, Written
from .reading import Rows, unix
from .writer import Writer


class KeyedWriter(Writer):
    """Generates the ids in Python and writes them by key, so that rows may be in any order."""

    def _computing_ids(self) -> None:
        return None

    def _read(self, cursor: Cursor | None, size: int) -> Rows | None:
        rows = self.pending.read(cursor, size)
        if not rows:
            return None
        microseconds: list[int] = []
        try:
            for place, same in groupby(place for place, _ in rows):
                microseconds += [unix(self.target.at(place))] * len(list(same))
        except InvalidID as error:
            raise self.stopped(rows[len(microseconds)], error) from error
        keys = [self.target.stored_key(pk) for _, pk in rows]
        return Rows(rows[0], rows[-1], [], microseconds, keys)


class KnownWriter(KeyedWriter):
    """The id of a row doesn't depend on the ids of the rows before it."""

    @abstractmethod
    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
        """The ids of any rows."""

    def _minted(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self.pending.read(cursor, size)
        if not rows:
            return NOTHING
        ids, end = self.known(rows), Cursor(*rows[-1], None)
        return Batch(rows, len(rows), lambda: Written(self.send(rows, ids), end, rows[-1]))


class Converter(KnownWriter):
    """Writes old ids in another format."""

    target: Lossless

    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
        return [self._convert(row) for row in rows]

    def preview(self, rows: Sequence[Row]) -> Sequence[ID]:
        return self.known(rows)

    def _convert(self, row: Row) -> ID:
        try:
            return self.target.convert(row[0])
        except InvalidID as error:
            raise self.stopped(row, error) from error
