"""``row()``, of which most schemes are made, and the checks of their options."""

import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from ..encodings.text_forms import TextForm
from ..layout import PLAIN, BitTemplate, Layout
from ..time_scheme import MILLISECOND, TimeScheme

T = TypeVar("T")

_EPOCHS_MS = range(-62_135_596_800_000, 253_402_300_800_000)
"""Unix times of the years 1 to 9999."""


def row(
    name: str,
    title: str,
    specification: str,
    forms: TextForm | tuple[tuple[str, TextForm], ...],
    *,
    time: int,
    suffix: int,
    set_bit: int | None = None,
    template: BitTemplate = PLAIN,
    tick_ns: int = MILLISECOND,
    **others: Any,
) -> TimeScheme:
    """``time | suffix`` bits; the suffix is random."""
    is_uuid = template.version is not None
    return TimeScheme(
        name=name,
        title=title,
        specification=specification,
        bits=128 if is_uuid else time + suffix,
        value_type=uuid.UUID if is_uuid else str,
        text_forms=forms if isinstance(forms, tuple) else (("canonical", forms),),
        layout=Layout(
            ticks=1 << time,
            suffixes=1 << suffix,
            template=template,
            set_bit=set_bit,
        ),
        tick_ns=tick_ns,
        **others,
    )


def epoch(usual_ns: int, epoch_ms: int | None) -> int:
    """The Unix time in ns of an option ``epoch_ms``; ``usual_ns`` for None.

    Raises ``ValueError`` unless it is a whole number of the years 1 to 9999.
    """
    if epoch_ms is None:
        return usual_ns
    is_number = isinstance(epoch_ms, int) and not isinstance(epoch_ms, bool)
    if not is_number or epoch_ms not in _EPOCHS_MS:
        raise ValueError(
            f"epoch_ms={epoch_ms!r}: expected a Unix time in ms, a whole number of the years 1 to "
            f"9999"
        )
    return epoch_ms * MILLISECOND


def one_of(rows: Mapping[Any, T], **option: Any) -> T:
    """The row that the option, given by its name, selects; ``ValueError`` if there is none."""
    ((name, value),) = option.items()
    if value not in rows:
        raise ValueError(f"{name}={value!r}: expected {' or '.join(map(repr, rows))}")
    return rows[value]
