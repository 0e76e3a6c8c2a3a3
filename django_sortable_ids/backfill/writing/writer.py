"""Makes batches of rows in the order of their creation times, and writes their ids."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any

from django.db import NotSupportedError

from ...errors import BackfillError
from ...fields import LexicalSequenceField
from ...schemes import ID, InvalidID, OutOfRange, SequenceExhausted, TimeScheme
from ...sequences import counters
from ..engines.base import Engine
from ..target import Row, Target
from .batch import NOTHING, Batch, Cursor, Written
from .computing import ComputingIDs
from .minting import Position, ascending, mint
from .pending_rows import PendingRows
from .reading import Rows, read, unix


class Writer:
    """Makes the batches of a target and writes them, for the plan and for the run.

    One UPDATE computes the ids of a batch in the database if it can compute them. Otherwise Python
    generates them and sends them in one UPDATE.
    """

    with_times = True
    """Whether an UPDATE skips rows whose time has changed since their ids were generated."""

    def __init__(self, target: Target, engine: Engine) -> None:
        self.target = target
        self.pending = PendingRows(target, looks_up_ids=engine.looks_up_ids)
        self._engine = engine
        self._connection = engine.connection
        self._statements = engine.statements(target, with_times=self.with_times)
        self._computing = self._computing_ids()

    @property
    def statements(self) -> Iterator[tuple[str, str]]:
        """When and how rows are written."""
        if self._computing is None:
            yield "for each batch", self._statements.sent
            return
        yield from self._computing.statements
        yield "for rows that appear during the run", self._statements.sent

    @property
    def kept(self) -> tuple[str, ...]:
        """Columns that an UPDATE would set to the current time, and that these statements keep."""
        return self._statements.kept.names

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        """The next ``size`` rows without an id after the cursor, or as many as there are.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        computed = self._computing.next(cursor, size) if self._computing else None
        batch = computed or self._minted(cursor, size)
        if batch.size:
            self.pending.made(batch.rows[0], batch.rows[-1], batch.size)
        return batch

    def send(self, rows: Sequence[Row], ids: Sequence[ID]) -> int:
        """Write ids for any rows; returns how many of them had none."""
        keys = [self.target.stored_key(pk) for _, pk in rows]
        return self._statements.send(keys, self._stored(ids), [created for created, _ in rows])

    def known(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, if they don't depend on those of other rows; else None."""
        return None

    def preview(self, rows: Sequence[Row]) -> Sequence[ID]:
        """Ids of the right time for the first rows, as examples: the written ids have other random
        bits. Empty for a sequence.
        """
        if not rows or not isinstance(self.target.field.scheme, TimeScheme):
            return ()
        scheme = self.target.scheme
        ticks = [self.target.tick(created) for created, _ in rows]
        numbers, _ = mint(scheme, ascending(ticks, None), None, 0)
        return list(scheme.all_from_trusted(numbers))

    @contextmanager
    def naming(self, row: Row) -> Iterator[None]:
        """Raise ``BackfillError``, naming that row, if an id can't be generated in the block."""
        try:
            yield
        except (OutOfRange, SequenceExhausted) as error:
            raise self.stopped(row, error) from error

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        return BackfillError(f"stopped at {self.target.named(row)}: {error}")

    def _minted(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self._read(cursor, size)
        if rows is None:
            return NOTHING
        stored, position = self._mint(rows, cursor)

        def write() -> Written:
            filled = self._statements.send(rows.keys, stored, rows.times)
            return Written(filled, Cursor(*rows.last, position), rows.last)

        return Batch([rows.first, rows.last], len(rows.keys), write)

    def _read(self, cursor: Cursor | None, size: int) -> Rows | None:
        return read(self.target, self.pending.next(cursor, size)[:size])

    def _mint(self, rows: Rows, cursor: Cursor | None) -> tuple[list[Any], Position | None]:
        """The values for the column, and the position where the next batch continues."""
        field, count = self.target.field, len(rows.keys)
        with self.naming(rows.last):
            if isinstance(field, LexicalSequenceField):
                ids = counters.take(field, field.scheme, count, self.target.using)
                return self._stored(ids), None
            scheme, position = self.target.scheme, cursor.position if cursor else None
            ticks = ascending(scheme.ticks(rows.microseconds), position)
            more = self.pending.left(cursor, rows.last, ticks, count)
            try:
                # Leave room for as many rows that may be inserted later.
                numbers, position = mint(scheme, ticks, position, more + count)
            except OutOfRange:
                numbers, position = mint(scheme, ticks, position, more)
            stored = field.stored(self._connection).all_to_db(numbers, self._connection)
            return stored, position

    def _stored(self, ids: Sequence[ID]) -> list[Any]:
        save = self.target.field.get_db_prep_save
        return [save(value, self._connection) for value in ids]

    def _computing_ids(self) -> ComputingIDs | None:
        """Computes the ids in the database; None if that is not possible."""
        if not isinstance(self.target.field.scheme, TimeScheme):
            return None
        with suppress(NotSupportedError):
            return ComputingIDs(self.target, self._engine, self.pending)
        return None


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
