"""What the database computes: ids, and the creation times in them."""

from .created_at import CreatedAt
from .digits import shortlex
from .generate import GenerateID

__all__ = [
    "CreatedAt",
    "GenerateID",
    "shortlex",
]
