"""``GenerateID`` under the name of each scheme."""

from typing import Any

from .generate import GenerateID


class _Named(GenerateID):
    def __init__(self, *, at: Any = None, storage: str | None = None, **options: Any) -> None:
        super().__init__(self.scheme_name, at=at, storage=storage, **options)


class GenerateUUIDv7(_Named):
    scheme_name = "uuid7"


class GenerateUUIDv6(_Named):
    scheme_name = "uuid6"


class GenerateCombV13UUID(_Named):
    scheme_name = "comb13"


class GenerateULID(_Named):
    scheme_name = "ulid"


class GenerateHexULID(_Named):
    scheme_name = "hexulid"


class GenerateKSUID(_Named):
    scheme_name = "ksuid"


class GenerateKUUID(_Named):
    scheme_name = "kuuid"


class GenerateXid(_Named):
    scheme_name = "xid"


class GenerateObjectID(_Named):
    scheme_name = "objectid"


class GeneratePushID(_Named):
    scheme_name = "pushid"


class GenerateTimeflake(_Named):
    scheme_name = "timeflake"


class GenerateSCRU128(_Named):
    scheme_name = "scru128"


class GenerateSnowflake(_Named):
    scheme_name = "snowflake"


class GenerateSonyflake(_Named):
    scheme_name = "sonyflake"


class GenerateTSID(_Named):
    scheme_name = "tsid"


class GenerateTime64(_Named):
    scheme_name = "time64"
