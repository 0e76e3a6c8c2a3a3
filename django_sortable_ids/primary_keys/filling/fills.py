"""Remembers what columns of keys are filled with, because a migration may be edited after a move
was stopped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...models import MoveNote
from ..changes.moved import KeyCopy, MovedKey, source_of

_PREFIX = "fill "


def is_of_another(key: MovedKey, using: str) -> bool:
    """Whether the column was filled for a key that differs from this one."""
    known = _known(target_of(key), using)
    return known is not None and known != _identity(key)


def remember(key: MovedKey, using: str) -> None:
    """To be called before the column is added."""
    _save(target_of(key), _identity(key), using)


def copied(copy: KeyCopy, using: str) -> dict[str, str] | None:
    """What ``remember_copy`` saved; None if nothing."""
    known: dict[str, str] | None = _known(target_of(copy), using)
    return known


def remember_copy(copy: KeyCopy, identity: dict[str, str], using: str) -> None:
    """To be called before the column with the old keys is added."""
    _save(target_of(copy), identity, using)


def target_of(moved: MovedKey | KeyCopy) -> str:
    """What the record is found by."""
    name = f".{moved.name}" if isinstance(moved, KeyCopy) else ""
    return f"{_PREFIX}{moved.model}{name}"[:200]


def _known(target: str, using: str) -> Any:
    known = MoveNote.objects.using(using).filter(target=target).first()
    return None if known is None else known.identity


def _save(target: str, identity: Any, using: str) -> None:
    values = {"identity": identity, "state": {}}
    MoveNote.objects.using(using).update_or_create(target=target, defaults=values)


def started(using: str) -> Iterator[tuple[str, datetime]]:
    """The label of each model whose new keys are filled, but whose move is not complete, and when
    that started."""
    rows = MoveNote.objects.using(using).filter(target__startswith=_PREFIX).order_by("pk")
    for target, at in rows.values_list("target", "updated_at"):
        label = target.removeprefix(_PREFIX)
        # A copied key has the name of its field, too.
        if label.count(".") == 1:
            yield label, at


def _identity(key: MovedKey) -> dict[str, Any]:
    """All on which the new keys depend."""
    policies = (key.on_null, key.on_out_of_range)
    return {
        "field": source_of(key.field),
        "source": [*map(str, (key.given, *policies))],
    }
