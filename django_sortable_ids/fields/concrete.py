"""One field for each scheme."""

from .generating import GetType, SetType
from .value_types import SortableIntegerField, SortableTextField, SortableUUIDField


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
    it: 10 us, then 74 random bits. The value is a ``uuid.UUID``.
    """

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
