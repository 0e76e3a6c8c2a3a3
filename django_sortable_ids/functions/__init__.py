"""Database functions: new ids, and the creation times of ids."""

from .created_at import CreatedAt
from .digits import shortlex
from .generate import GenerateID

__all__ = [
    "CreatedAt",
    "GenerateID",
    "shortlex",
]
