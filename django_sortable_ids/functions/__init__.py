"""What the database computes: ids, and the creation times in them."""

from .created_at import CreatedAt
from .digits import shortlex
from .generate import GenerateID
from .hexadecimal import register
from .named import (
    GenerateCombV13UUID,
    GenerateHexULID,
    GenerateKSUID,
    GenerateKUUID,
    GenerateObjectID,
    GeneratePushID,
    GenerateSCRU128,
    GenerateSnowflake,
    GenerateSonyflake,
    GenerateTime64,
    GenerateTimeflake,
    GenerateTSID,
    GenerateULID,
    GenerateUUIDv6,
    GenerateUUIDv7,
    GenerateXid,
)

__all__ = [
    "CreatedAt",
    "GenerateCombV13UUID",
    "GenerateHexULID",
    "GenerateID",
    "GenerateKSUID",
    "GenerateKUUID",
    "GenerateObjectID",
    "GeneratePushID",
    "GenerateSCRU128",
    "GenerateSnowflake",
    "GenerateSonyflake",
    "GenerateTSID",
    "GenerateTime64",
    "GenerateTimeflake",
    "GenerateULID",
    "GenerateUUIDv6",
    "GenerateUUIDv7",
    "GenerateXid",
    "register",
    "shortlex",
]
