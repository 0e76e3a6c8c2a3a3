"""How values that work something out from their fields are copied and pickled."""

from dataclasses import fields
from typing import Any


class CopiedByFields:
    """A dataclass whose copies, and pickles, have its fields and nothing else.

    What it has worked out and kept may be a function, which can't be pickled, or a generator of
    ids, whose copy would make the same ones.
    """

    def __getstate__(self: Any) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
