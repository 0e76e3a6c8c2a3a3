"""Model fields, one for each scheme."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import models, router
from django.db.backends.base.base import BaseDatabaseWrapper

from . import times
from .auto_fields import SortableAutoField
from .base import SortableIDField
from .generating import GetType, SetType
from .options import OWN, SCHEME, WrongOption
from .value_types import SortableIntegerField, SortableTextField, SortableUUIDField

if TYPE_CHECKING:
    from ..schemes import LexicalSequence

__all__ = [
    "CUIDField",
    "CombV4UUIDField",
    "CombV13UUIDField",
    "HexULIDField",
    "KSUIDField",
    "KUUIDField",
    "LexicalSequenceField",
    "ObjectIDField",
    "PushIDField",
    "SCRU128Field",
    "SnowflakeAutoField",
    "SnowflakeField",
    "SonyflakeField",
    "SortableAutoField",
    "SortableIDField",
    "SortableIntegerField",
    "SortableTextField",
    "SortableUUIDField",
    "TSIDField",
    "Time64AutoField",
    "Time64Field",
    "TimeflakeField",
    "ULIDAutoField",
    "ULIDField",
    "UUIDv6Field",
    "UUIDv7AutoField",
    "UUIDv7Field",
    "XidField",
]


class UUIDv7Field(SortableUUIDField[SetType, GetType]):
    """UUID version 7 (RFC 9562): Unix time in ms, 74 random bits. The value is a ``uuid.UUID``."""

    scheme_name = "uuid7"


class UUIDv6Field(SortableUUIDField[SetType, GetType]):
    """UUID version 6 (RFC 9562): 100 ns since 1582. The value is a ``uuid.UUID``."""

    scheme_name = "uuid6"


class CombV13UUIDField(SortableUUIDField[SetType, GetType]):
    """A version 1 UUID with its time in order and version 13. The value is a ``uuid.UUID``.

    ``encoding="sqlserver"`` shows it as SQL Server shows the version 1 UUID.
    """

    scheme_name = "comb13"


class CombV4UUIDField(SortableUUIDField[SetType, GetType]):
    """A UUID of version 4 that begins with its time, as Laravel's ``Str::orderedUuid()`` generates
    it: 10 us, then 74 random bits. The value is a ``uuid.UUID``."""

    scheme_name = "comb4"


class ULIDField(SortableTextField[SetType, GetType]):
    """ULID: Unix time in ms, 80 random bits. The value is the text of 26 characters."""

    scheme_name = "ulid"


class HexULIDField(SortableTextField[SetType, GetType]):
    """The bits of a ULID as 32 upper-case hexadecimal digits, which plain SQLite can generate.

    Digits of both cases are read. ``epoch_ms`` is the Unix time of another epoch.
    """

    scheme_name = "hexulid"


class KUUIDField(SortableTextField[SetType, GetType]):
    """kuuid: 8 characters of time and 24 random ones, in base 62. The value is the text.

    ``precision`` is ``"s"`` or ``"ms"``, ``reverse`` sorts the newest first, ``short`` means 12
    random characters. ``epoch_ms`` is the Unix time of another epoch: ids of kuuid 0.1 count from
    2018, 1,514,764,800,000.
    """

    scheme_name = "kuuid"


class KSUIDField(SortableTextField[SetType, GetType]):
    """KSUID: seconds since 2014, 128 random bits. The value is the text of 27 characters.

    ``precision="ms"`` uses 8 of these bits for steps of 4 ms, as svix-ksuid for Rust does.
    """

    scheme_name = "ksuid"


class XidField(SortableTextField[SetType, GetType]):
    """xid: Unix seconds, 64 random bits. The value is the text of 20 characters."""

    scheme_name = "xid"


class ObjectIDField(SortableTextField[SetType, GetType]):
    """MongoDB's ObjectId: Unix seconds, 64 random bits. The value is 24 hexadecimal digits."""

    scheme_name = "objectid"


class PushIDField(SortableTextField[SetType, GetType]):
    """Firebase's push id: Unix time in ms, 72 random bits. The value is the text, 20 characters."""

    scheme_name = "pushid"


class TimeflakeField(SortableTextField[SetType, GetType]):
    """Timeflake: the bits of a ULID as 22 characters of base 62. The value is the text."""

    scheme_name = "timeflake"


class SCRU128Field(SortableTextField[SetType, GetType]):
    """SCRU128: Unix time in ms, 80 random bits. The value is 25 characters of base 36."""

    scheme_name = "scru128"


class CUIDField(SortableTextField[SetType, GetType]):
    """CUID version 1, as Prisma generated them: ``c``, Unix time in ms, 16 random characters.

    The value is the text of 25 characters.
    """

    scheme_name = "cuid"


class SnowflakeField(SortableIntegerField[SetType, GetType]):
    """Twitter's 64 bits: 41 of ms, 10 of worker, 12 of sequence. The value is an ``int``.

    ``layout`` selects another service's: ``"discord"``, ``"instagram"``, ``"mastodon"`` or
    ``"unique_rowid"`` (CockroachDB). ``epoch_ms`` is the Unix time of another epoch; ``time_bits``
    and ``worker_bits`` set another split, ``bits`` how many there are together. With ``bits=53``,
    ids are safe in JavaScript: of 41 bits of time and 10 of worker, 2 of sequence are left. The
    worker number is ``SORTABLE_IDS["WORKER"]``.

    An auto-increment column, such as a ``BigAutoField``, can become one and keeps its numbers. They
    are read as ids from the start of the epoch: with 22 bits after the time, numbers below
    4,194,304 are in its first millisecond. New ids are greater.
    """

    scheme_name = "snowflake"


class SonyflakeField(SortableIntegerField[SetType, GetType]):
    """Sonyflake: 39 bits of 10 ms, 8 of sequence, 16 of machine. The value is an ``int``.

    ``version`` is the release of sony/sonyflake that generates such ids: 1 counts from 2014-09-01,
    2 from 2025-01-01; ``epoch_ms`` is the Unix time of another ``StartTime``. ``sequence_bits`` and
    ``worker_bits`` set another split. The machine number is ``SORTABLE_IDS["WORKER"]``.
    """

    scheme_name = "sonyflake"


class TSIDField(SortableIntegerField[SetType, GetType]):
    """TSID: 42 bits of ms since 2020, then node and counter. The value is an ``int``.

    The public text is the usual one of 13 characters; with ``encoding="decimal"`` it is the number.
    ``node_bits``, 0 to 20, is how many of the last 22 bits are the node number, which is
    ``SORTABLE_IDS["WORKER"]``.
    ``epoch_ms`` is the Unix time of another epoch. A bigint column holds ids until 2089-09-06.
    """

    scheme_name = "tsid"


class Time64Field(SortableIntegerField[SetType, GetType]):
    """19 decimal digits: 10 of seconds, then those of ``layout``. The value is an ``int``.

    ``"4+5"`` has 4 digits of 0.1 ms and 5 random ones, ``"3+6"`` has 3 of ms and 6 random ones.
    ``workers``, a power of ten, replaces the random digits with a worker number,
    ``SORTABLE_IDS["WORKER"]``, and a sequence.
    """

    scheme_name = "time64"


class _PendingID:
    """Stands for the id until the INSERT, which knows its database; ``pre_save`` doesn't."""

    def __init__(self, instance: models.Model) -> None:
        self.instance = instance


class LexicalSequenceField(SortableTextField[SetType, GetType]):
    """Short ids that count: ``0000``, ``0001`` ... in the characters of ``charset``.

    ``charset`` is a string of characters or one of these names: ``"numeric"``, ``"alpha_lower"``,
    ``"alpha_upper"``, ``"alnum_lower"``, ``"alnum_upper"`` (the default), ``"alpha"`` and
    ``"alnum"``, which contain both cases. ``ignore_case`` reads both cases alike, ``width`` fixes
    the length (without it, ids grow up to ``max_length``, 20 by default, and sort by length first),
    ``start`` is the first id, ``step`` the distance to the next. The value is the text.

    ``template`` is text around the number, which then needs a ``width``, such as
    ``"INV-{year}-{number}"``: the count starts again each year, or with ``{month}`` each month, of
    the insert or of the field that ``created_from`` names. The text may have ASCII letters, digits
    and ``-_~``. ``start`` is the first number without the text.

    The id is generated when the row is inserted, primary keys included. The counter is in the
    database of the row, for a primary key in that which the router names. ``block`` is how many
    numbers a process reserves at a time, in a transaction of its own; with ``block=1``, the counter
    is part of the caller's transaction. docs/how-to/sequences.md compares the two.
    """

    scheme_name = "lexical_sequence"
    generates_on_insert = True
    own_options = (*OWN, "block")
    non_db_attrs = (*SortableIDField.non_db_attrs, "block")
    scheme: LexicalSequence
    block: int = 1

    def _resolve(self) -> list[WrongOption]:
        wrong = super()._resolve()
        block = self.block
        if isinstance(block, bool) or not isinstance(block, int) or block < 1:
            expected = "expected how many numbers to reserve, 1 or more"
            wrong.append(WrongOption(SCHEME, f"block={block!r}: {expected}"))
        return wrong

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        if add and self.generates_ids and getattr(model_instance, self.attname) is None:
            return _PendingID(model_instance)
        return super().pre_save(model_instance, add)

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        if isinstance(value, _PendingID):
            row = value.instance
            value = self.generate_many_for([row], connection.alias)[0]
            setattr(row, self.attname, value)
        return super().get_db_prep_save(value, connection)

    def generate_for(self, model_instance: models.Model) -> str:
        using = model_instance._state.db or router.db_for_write(
            type(model_instance), instance=model_instance
        )
        return self.generate_many_for([model_instance], using)[0]

    def generate_many_for(self, instances: Sequence[models.Model], using: str) -> list[str]:
        if not self.scheme.template.is_dated:
            return self.take(len(instances), using)
        days = [times.day_of(row, self.created_from) for row in instances]
        return times.generate_by_time(
            days, self.scheme.template.period_of, lambda count, day: self.take(count, using, day)
        )

    def take(self, count: int, using: str, day: date | None = None) -> list[str]:
        """The next ``count`` ids of the sequence, reserved in the database ``using``.

        With a year in the template, they are of the year and the month of ``day``: by default
        today, in the current time zone. Raises ``SequenceExhausted`` if the width allows no more.
        """
        from ..db.transactions import in_transaction, retried
        from ..workers import counters
        from .of_model import is_unique_alone

        scheme = self.scheme
        if scheme.template.is_dated:
            scheme = scheme.in_period_of(day or times.today())
        looks_up = is_unique_alone(self)
        if self.block == 1:
            take = partial(counters.take, self, scheme, count, using, looks_up=looks_up)
            return take() if in_transaction(using) else retried(take)
        return counters.take_from_block(self, scheme, count, using, self.block, looks_up)

    def generate(self) -> Any:
        raise TypeError("a sequence generates ids when rows are inserted; to get some, call take()")


class UUIDv7AutoField(SortableAutoField[SetType, GetType], UUIDv7Field[SetType, GetType]):
    """A ``UUIDv7Field`` whose key is None until the row is inserted."""


class ULIDAutoField(SortableAutoField[SetType, GetType], ULIDField[SetType, GetType]):
    """A ``ULIDField`` whose key is None until the row is inserted."""


class SnowflakeAutoField(SortableAutoField[SetType, GetType], SnowflakeField[SetType, GetType]):
    """A ``SnowflakeField`` whose key is None until the row is inserted."""


class Time64AutoField(SortableAutoField[SetType, GetType], Time64Field[SetType, GetType]):
    """A ``Time64Field`` whose key is None until the row is inserted."""
