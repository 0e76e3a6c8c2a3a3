"""The SQL of each vendor that gives the rows of a batch their ids.

Its parameters have names: ``first_time``, ``first_key_0`` and so on are the place of the first row
of the batch, ``last_time``, ``last_key_0`` that of the last one.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.db import NotSupportedError
from django.db.models import DateTimeField
from django.db.models.expressions import Expression, RawSQL
from django.db.models.sql import Query

from ..functions.composition import Composition
from ..functions.moments import UnixMicroseconds
from ..functions.randomness import RANDOM_BITS, RandomInteger
from ..functions.ticks import tick_at
from .json_rows import JSONRows
from .target import Target
from .times import knows_utc

Row = tuple[Any, Any]
"""Creation time, or the old id of a conversion, and key."""

_DIVISION = {"postgresql": "/", "mysql": "DIV"}
_REMAINDER = {"postgresql": "mod(random, {})", "mysql": "random MOD {}"}

_OF_PART = (
    " WHERE CASE WHEN tick = %(last_tick)s THEN %(with_last_tick)s "
    "ELSE hashint8(tick) & %(mask)s = %(part)s END"
)
"""PostgreSQL's."""


class Statements:
    """What is said to the database about the batches of a target."""

    def __init__(self, target: Target, connection: Any) -> None:
        self.target = target
        self.connection = connection
        self._vendor: str = connection.vendor
        self._table = connection.ops.quote_name(target.model._meta.db_table)
        self._column = connection.ops.quote_name(str(target.field.column))
        self._keys = [connection.ops.quote_name(str(key.column)) for key in target.key_fields]
        self._key_names = [f"key_{n}" for n in range(len(self._keys))]

    def computed(
        self,
        composition: Composition,
        *,
        of_one_time: bool = False,
        of_part: bool = False,
        of_dense: bool = False,
    ) -> str:
        """One UPDATE that computes the ids of a batch. Raises ``NotSupportedError`` where the
        database can't, and where Python is faster.

        Its further parameters are ``held_tick`` and ``start``, the tick that the batch before
        ended in and the first rank that is left there; ``last_tick`` and ``beyond``, the tick of
        the last row and how many rows behind the batch share it. ``of_one_time`` says that all
        rows of the batch have one time; ``of_part`` that only the rows of a ``Part`` are written,
        ``mask`` and ``part``, and ``with_last_tick`` those of the last tick; ``of_dense`` that rows
        with an id are so few that slots for them, too, take less than to tell which they are.
        """
        if self._vendor == "sqlite" or not knows_utc(self.connection):
            raise NotSupportedError("Python is faster, or knows the time zone better")
        made = self._compile(composition.made_of(_raw("d.tick"), _raw("d.slot")))
        rows = self._slots(composition, self._batch(of_one_time, of_dense), of_part)
        if self._vendor == "mysql":
            return self._looked_up(made, rows, of_one_time)
        return self._update(made, rows)

    def _looked_up(self, value: str, rows: str, of_one_time: bool) -> str:
        """As ``_update``, in a form that locks no other rows on MariaDB and MySQL.

        They read what a joined UPDATE joins with shared locks, READ COMMITTED or not, and by which
        index is up to them: every row without an id may be waited for. What an UPDATE of one table
        looks up is read without locks, and its own rows are let go where they don't match.
        """
        if self._chain:
            raise NotSupportedError("the time is in another table than the id")
        return (
            f"UPDATE {self._table} t{self._hint} SET t.{self._column} = (SELECT {value} "
            f"FROM ({rows}) d WHERE {self._on_keys()}{self._unmoved}) "
            f"WHERE t.{self._column} IS NULL AND {self._within('t', 't', of_one_time)}"
        )

    def _slots(self, composition: Composition, batch: str, of_part: bool) -> str:
        """Tick and rank of each row of the batch.

        The ranks of a tick are cut into equal slots, one for each of its rows, and a rank is drawn
        from each. The number is drawn where the windows are: MySQL draws anew wherever it is read,
        but for a query with a window. A window that stands there twice is computed twice.
        """
        ranks = composition.ranks
        tick = self._compile(tick_at(UnixMicroseconds(_raw("created")), composition.scheme))
        random = self._compile(RandomInteger(below=1 << RANDOM_BITS))
        start = "CASE WHEN tick = %(held_tick)s THEN %(start)s ELSE 0 END"
        beyond = "CASE WHEN tick = %(last_tick)s THEN %(beyond)s ELSE 0 END"
        width = f"(({ranks} - {start}) {_DIVISION[self._vendor]} (ties + {beyond}))"
        windows = (
            f"row_number() OVER (PARTITION BY tick ORDER BY created, {self._names}) AS number, "
            "count(*) OVER (PARTITION BY tick) AS ties"
        )
        return (
            f"SELECT {self._places}, tick, "
            f"{start} + (number - 1) * {width} + {_REMAINDER[self._vendor].format(width)} AS slot "
            f"FROM (SELECT {self._places}, tick, {windows}, {random} AS random "
            f"FROM (SELECT b.*, {tick} AS tick FROM ({batch}) b) ticks"
            f"{_OF_PART if of_part else ''}) numbered"
        )

    def sent(self) -> str:
        """Writes the ids of a batch that Python made: as ``one_by_one`` on SQLite, which is no
        server and takes the least time for it, else one UPDATE with lists as parameters.
        """
        if self._vendor == "sqlite":
            return self.one_by_one()
        made, rows, on = self._listed()
        return self._update(made, rows, f"{on}{self._unmoved}")

    @property
    def compares_times(self) -> bool:
        """Whether ids that Python made are sent with their rows' times."""
        if self._chain or not isinstance(self.target.source, DateTimeField):
            return False
        return self._vendor == "mysql" or knows_utc(self.connection)

    def one_by_one(self) -> str:
        """Writes one id where there still is none; its parameters are the id and the key."""
        is_row = " AND ".join(f"{key} = %s" for key in self._keys)
        where = f"{is_row} AND {self._column} IS NULL"
        return f"UPDATE {self._table} SET {self._column} = %s WHERE {where}"

    def place(self, name: str, row: Row) -> dict[str, Any]:
        """The parameters for the place of a row, ``first`` or ``last``."""
        created, pk = row
        time = self.target.stored_time(created)
        keys = zip(self._key_names, self.target.stored_key(pk), strict=True)
        return {f"{name}_time": time} | {f"{name}_{key}": value for key, value in keys}

    def _batch(self, of_one_time: bool, of_dense: bool) -> str:
        """The rows without an id from the first to the last place, both included; or all rows."""
        time = f"{self._tables[-1]}.{self._quote(self.target.source.column)}"
        own = self._tables[0]
        keys = [f"{own}.{key}" for key in self._keys]
        columns = [f"{key} AS {name}" for key, name in zip(keys, self._key_names, strict=True)]
        if self._vendor == "postgresql":
            columns += [f"{own}.ctid AS place", f"{own}.tableoid AS part"]
        within = self._within(own, self._tables[-1], of_one_time)
        return (
            f"SELECT {', '.join(columns)}, {time} AS created FROM {self._source} "
            f"WHERE {'' if of_dense else f'{own}.{self._column} IS NULL AND '}{within}"
        )

    def _within(self, own: str, timed: str, of_one_time: bool) -> str:
        """Between the places of the batch, of a table and the one that has the time."""
        time = f"{timed}.{self._quote(self.target.source.column)}"
        key = ", ".join(f"{own}.{key}" for key in self._keys)
        first, last = (
            ", ".join(f"%({side}_{name})s" for name in self._key_names)
            for side in ("first", "last")
        )
        if self._vendor == "mysql":
            # In this form, and in no shorter one, the range optimizers see a range of an index on
            # the time, which ends in the key; what they read besides, an UPDATE would wait for.
            return (
                f"({time} > %(first_time)s OR {time} = %(first_time)s AND ({key}) >= ({first})) "
                f"AND ({time} < %(last_time)s OR {time} = %(last_time)s AND ({key}) <= ({last}))"
            )
        if of_one_time:
            # So that an index finds the first key: rows of one time may be millions.
            return f"{time} = %(first_time)s AND ({key}) >= ({first}) AND ({key}) <= ({last})"
        return (
            f"{time} >= %(first_time)s "
            f"AND ({time} > %(first_time)s OR ({key}) >= ({first})) "
            f"AND {time} <= %(last_time)s AND ({time} < %(last_time)s OR ({key}) <= ({last}))"
        )

    @property
    def _tables(self) -> list[str]:
        """The table, and those of its parents up to the one that has the time."""
        return [f"s{n}" for n in range(len(self._chain) + 1)]

    @property
    def _chain(self) -> Sequence[Any]:
        meta, of_time = self.target.model._meta, self.target.source.model
        return [] if of_time is self.target.model else list(meta.get_base_chain(of_time))

    @property
    def _source(self) -> str:
        sql, child = f"{self._table} s0", self.target.model
        if not self._chain:
            sql += self._hint
        for number, parent in enumerate(self._chain, 1):
            link = child._meta.parents[parent]
            assert link is not None
            pk = self._quote(parent._meta.pk.column)
            sql += (
                f" JOIN {self._quote(parent._meta.db_table)} s{number}"
                f" ON s{number}.{pk} = s{number - 1}.{self._quote(link.column)}"
            )
            child = parent
        return sql

    @cached_property
    def _hint(self) -> str:
        """Which index to take. MariaDB and MySQL read all of a table for a batch of about a sixth
        of its rows, which takes several times as long as the batch.
        """
        if self._vendor != "mysql":
            return ""
        with self.connection.cursor() as cursor:
            cursor.execute(f"SHOW INDEX FROM {self._table}")
            names = [column[0] for column in cursor.description]
            parts = [dict(zip(names, part, strict=True)) for part in cursor.fetchall()]
        column = self.target.source.column
        for part in parts:
            # A hint that names an index which is switched off is an error.
            is_off = part.get("Visible") == "NO" or part.get("Ignored") == "YES"
            is_first = part["Seq_in_index"] == 1 and part["Column_name"] == column
            if is_first and not is_off:
                return f" FORCE INDEX ({self._quote(part['Key_name'])})"
        return ""

    @property
    def _names(self) -> str:
        return ", ".join(self._key_names)

    @property
    def _places(self) -> str:
        return "place, part" if self._vendor == "postgresql" else f"{self._names}, created"

    def _update(self, value: str, rows: str, on: str | None = None) -> str:
        """``value`` for the rows that ``rows`` names, where there still is none."""
        if on is None:
            # What finds a row at once, while nobody changes it: one that another transaction has
            # changed since the statement began has moved, and is left to the sweep. The same place
            # may be taken in each partition.
            by_place = "t.ctid = d.place AND t.tableoid = d.part"
            on = by_place if self._vendor == "postgresql" else self._on_keys()
        if self._vendor == "mysql":
            return (
                f"UPDATE ({rows}) d STRAIGHT_JOIN {self._table} t FORCE INDEX (PRIMARY) ON {on} "
                f"SET t.{self._column} = {value} WHERE t.{self._column} IS NULL"
            )
        return (
            f"UPDATE {self._table} AS t SET {self._column} = {value} FROM ({rows}) d "
            f"WHERE {on} AND t.{self._column} IS NULL"
        )

    @property
    def _unmoved(self) -> str:
        """Leaves the rows to the sweep whose time another transaction has changed since it was
        read, where that can be said.
        """
        if not self.compares_times:
            return ""
        return f" AND t.{self._quote(self.target.source.column)} = d.created"

    def _on_keys(self) -> str:
        pairs = zip(self._keys, self._key_names, strict=True)
        return " AND ".join(f"t.{key} = d.{name}" for key, name in pairs)

    def _listed(self) -> tuple[str, str, str]:
        """The id, the rows and how they are joined, of keys and ids that are parameters."""
        if self._vendor == "postgresql":
            names = [*self._key_names, "id"]
            types = [key.rel_db_type(self.connection) for key in self.target.key_fields]
            types.append(self.target.field.db_type(self.connection))
            if self.compares_times:
                names.append("created")
                types.append(self.target.source.db_type(self.connection))
            pairs = zip(names, types, strict=True)
            lists = ", ".join(f"%({name})s::{kind}[]" for name, kind in pairs)
            rows = f"SELECT * FROM unnest({lists}) u({', '.join(names)})"
            return "d.id", rows, self._on_keys()
        return JSONRows(self.target, self.connection).listed(with_times=self.compares_times)

    def _compile(self, expression: Expression) -> str:
        compiler = Query(self.target.model).get_compiler(connection=self.connection)
        sql, _ = compiler.compile(expression)
        return str(sql)

    def _quote(self, name: str | None) -> str:
        return str(self.connection.ops.quote_name(str(name)))


def _raw(sql: str) -> Expression:
    return RawSQL(sql, ())
