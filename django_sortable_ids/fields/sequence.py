"""The field of lexical sequences, whose counter is in the database."""

from typing import TYPE_CHECKING, Any

from django.db import models, router

from .. import counters
from ..schemes import LexicalSequence
from .base import SortableIDField


class LexicalSequenceField(SortableIDField):
    """Short ids that count: ``0000``, ``0001`` ... in the characters of ``charset``.

    ``charset`` is one of ``schemes.sequence.CHARSETS`` or a string of characters. ``ignore_case``
    reads both cases alike, ``width`` fixes the length (without it, ids grow up to ``max_length``
    and sort by length first), ``start`` is the first id, ``step`` the distance to the next. The
    value is the text.

    The id is made when the row is inserted, primary keys included: until then it is None. Numbers
    of transactions that roll back are given out again; in a transaction that stays open, other
    inserts of the same sequence wait.
    """

    scheme_name = "lexical_sequence"
    scheme_options = {
        "charset": "alnum_upper",
        "ignore_case": False,
        "width": None,
        "start": None,
        "step": 1,
        "max_length": 20,
    }
    scheme: LexicalSequence
    if TYPE_CHECKING:
        _pyi_private_set_type: str
        _pyi_private_get_type: str

    @property
    def _made_with_instance(self) -> bool:
        return False

    def generate_for(self, model_instance: models.Model) -> str:
        using = model_instance._state.db or router.db_for_write(
            type(model_instance), instance=model_instance
        )
        return self.take(1, using)[0]

    def take(self, count: int, using: str) -> list[str]:
        """The next ``count`` ids of the sequence, reserved in the database ``using``.

        Raises ``SequenceExhausted`` where the width has no more.
        """
        return counters.take(self, self.scheme, count, using)

    def generate(self) -> Any:
        raise TypeError("a sequence makes its ids when rows are inserted; see take()")
