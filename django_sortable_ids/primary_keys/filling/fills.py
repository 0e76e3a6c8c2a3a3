"""Remembers what the columns of new keys are filled with, because a migration may be edited after a
move was stopped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...models import VerificationRun
from ..changes.moved import MovedKey

_PREFIX = "fill "


def is_of_another(key: MovedKey, using: str) -> bool:
    """Whether the column was filled for a key that differs from this one."""
    known = _rows(using).filter(target=target_of(key)).first()
    return known is not None and known.judged_by != _identity(key)


def remember(key: MovedKey, using: str) -> None:
    """To be called before the column is added."""
    values = {"judged_by": _identity(key), "state": {"found": {"rows": 0}}}
    _rows(using).update_or_create(target=target_of(key), defaults=values)


def target_of(key: MovedKey) -> str:
    """What the record of the key is found by."""
    return f"{_PREFIX}{key.model}"[:200]


def started(using: str) -> Iterator[tuple[str, datetime]]:
    """The label of each model whose new keys are filled, but whose move is not complete, and when
    that started."""
    rows = _rows(using).filter(target__startswith=_PREFIX).order_by("pk")
    for target, at in rows.values_list("target", "updated_at"):
        yield target.removeprefix(_PREFIX), at


def _rows(using: str) -> Any:
    return VerificationRun.objects.using(using)


def _identity(key: MovedKey) -> dict[str, Any]:
    """All on which the new keys depend."""
    _, path, arguments, options = key.field.deconstruct()
    policies = (key.on_null, key.on_out_of_range)
    return {
        "field": f"{path} {arguments} {sorted(options.items())}",
        "source": [*map(str, (key.given, *policies))],
    }
