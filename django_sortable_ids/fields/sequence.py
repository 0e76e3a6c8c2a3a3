"""The field of lexical sequences, whose counter is in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from django.db import models, router
from django.db.backends.base.base import BaseDatabaseWrapper

from .base import SortableIDField
from .generating import GetType, SetType
from .options import SCHEME, USUAL, WrongOption
from .value_types import SortableTextField
from .values import times

if TYPE_CHECKING:
    from ..schemes import LexicalSequence


class _PendingID:
    """Stands for the id until the INSERT, which knows its database; ``pre_save`` doesn't."""

    def __init__(self, instance: models.Model) -> None:
        self.instance = instance


class LexicalSequenceField(SortableTextField[SetType, GetType]):
    """Short ids that count: ``0000``, ``0001`` ... in the characters of ``charset``.

    ``charset`` is a string of characters or one of these names: ``"numeric"``, ``"alpha_lower"``,
    ``"alpha_upper"``, ``"alnum_lower"``, ``"alnum_upper"`` (the default), ``"alpha"`` and
    ``"alnum"``, which contain both cases. ``ignore_case`` reads both cases alike, ``width`` fixes
    the length (without it, ids grow up to ``max_length``, 20 by default, and sort by length first),
    ``start`` is the first id, ``step`` the distance to the next. The value is the text.

    ``template`` is text around the number, which then needs a ``width``, such as
    ``"INV-{year}-{number}"``: the count starts again each year, or with ``{month}`` each month, of
    the insert or of the field that ``created_from`` names. The text may have ASCII letters, digits
    and ``-_~``. ``start`` is the first number without the text.

    The id is generated when the row is inserted, primary keys included. The counter is in the
    database of the row, for a primary key in that which the router names. ``block`` is how many
    numbers a process reserves at a time, in a transaction of its own; with ``block=1``, the counter
    is part of the caller's transaction. docs/how-to/sequences.md compares the two.
    """

    scheme_name = "lexical_sequence"
    own_options = {**USUAL, "block": 1}
    non_db_attrs = (*SortableIDField.non_db_attrs, "block")
    scheme: LexicalSequence
    block: int

    def _resolve(self) -> list[WrongOption]:
        wrong = super()._resolve()
        block = self.block
        if isinstance(block, bool) or not isinstance(block, int) or block < 1:
            expected = "expected how many numbers to reserve, 1 or more"
            wrong.append(WrongOption(SCHEME, f"block={block!r}: {expected}"))
        return wrong

    @property
    def _generated_with_instance(self) -> bool:
        return False

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        missing = getattr(model_instance, self.attname) is None
        if add and missing and self.generates_ids:
            return _PendingID(model_instance)
        return super().pre_save(model_instance, add)

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        if isinstance(value, _PendingID):
            instance = value.instance
            value = self.generate_many_for([instance], connection.alias)[0]
            setattr(instance, self.attname, value)
        return super().get_db_prep_save(value, connection)

    def generate_for(self, model_instance: models.Model) -> str:
        using = model_instance._state.db or router.db_for_write(
            type(model_instance), instance=model_instance
        )
        return self.generate_many_for([model_instance], using)[0]

    def generate_many_for(self, instances: Sequence[models.Model], using: str) -> list[str]:
        if not self.scheme.template.is_dated:
            return self.take(len(instances), using)
        days = [times.day_of(each, self.created_from) for each in instances]
        return times.generate_by_time(
            days, self.scheme.template.period_of, lambda count, day: self.take(count, using, day)
        )

    def take(self, count: int, using: str, day: date | None = None) -> list[str]:
        """The next ``count`` ids of the sequence, reserved in the database ``using``.

        With a year in the template, they are of the year and the month of ``day``: by default
        today, in the current time zone. Raises ``SequenceExhausted`` if the width allows no more.
        """
        from ..workers import counters

        scheme = self.scheme
        if scheme.template.is_dated:
            scheme = scheme.in_period_of(day or times.today())
        if self.block == 1:
            return counters.take(self, scheme, count, using)
        return counters.take_from_block(self, scheme, count, using, self.block)

    @property
    def takes_times(self) -> bool:
        from ..schemes import LexicalSequence

        stored = self.stored_scheme
        return isinstance(stored, LexicalSequence) and stored.template.is_dated

    def generate(self) -> Any:
        raise TypeError("a sequence generates ids when rows are inserted; to get some, call take()")
