"""What the database computes: ids, and the creation times in them."""

from .created_at import CreatedAt
from .generate import GenerateID
from .named import (
    GenerateCombV13UUID,
    GenerateHexULID,
    GenerateKUUID,
    GenerateSnowflake,
    GenerateTime64,
    GenerateULID,
    GenerateUUIDv6,
    GenerateUUIDv7,
)
from .sqlite import register

__all__ = [
    "CreatedAt",
    "GenerateCombV13UUID",
    "GenerateHexULID",
    "GenerateID",
    "GenerateKUUID",
    "GenerateSnowflake",
    "GenerateTime64",
    "GenerateULID",
    "GenerateUUIDv6",
    "GenerateUUIDv7",
    "register",
]
