"""What the database computes: ids, and the creation times in them."""

from .created_at import CreatedAt
from .digits import shortlex
from .generate import GenerateID
from .hexadecimal import register

__all__ = [
    "CreatedAt",
    "GenerateID",
    "register",
    "shortlex",
]
