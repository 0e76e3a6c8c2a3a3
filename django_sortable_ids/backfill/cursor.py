"""Where a run stands: the last row that it filled, and the id that it gave."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeGuard

from ..schemes import ID, TimeScheme
from .minting import Position
from .target import Target


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the order of (creation time, key), kept as JSON."""

    created: Any
    """The time of a row, or its old id."""
    pk: Any
    position: Position | None
    """None for a sequence, whose counter knows."""

    @property
    def place(self) -> tuple[Any, Any]:
        return self.created, self.pk

    def last(self, scheme: TimeScheme, tick: int) -> tuple[datetime, Any, ID] | None:
        """Place and id of the last row, where it is of that tick."""
        if self.position is None or self.position.tick != tick:
            return None
        return *self.place, scheme.from_trusted(scheme.layout.join(tick, self.position.tail))

    def dump(self) -> dict[str, Any]:
        position = self.position
        return {
            "created": self.created.isoformat() if _is_time(self.created) else str(self.created),
            "pk": [*map(str, self.pk)] if isinstance(self.pk, tuple) else str(self.pk),
            # As text: a tail of 80 bits is more than other readers of JSON keep.
            "position": position and [str(position.tick), str(position.tail)],
        }

    @classmethod
    def load(cls, target: Target, saved: dict[str, Any]) -> "Cursor":
        position = saved["position"]
        created = target.load_place(saved["created"])
        return cls(created, _key(target, saved["pk"]), position and Position(*map(int, position)))


def _is_time(created: Any) -> TypeGuard[datetime]:
    return isinstance(created, datetime)


def _key(target: Target, saved: str | list[str]) -> Any:
    if isinstance(saved, str):
        return target.model._meta.pk.to_python(saved)
    fields = target.key_fields
    return tuple(field.to_python(part) for field, part in zip(fields, saved, strict=True))
