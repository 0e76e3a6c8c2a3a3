"""What the fields of one type of value have in common: types, which only type checkers read.

``models.CharField`` is generic in what an attribute takes and in what it gives, and so are these
fields. The plugin of django-stubs for mypy reads ``_pyi_...``. Other type checkers solve the two
types from the default of ``_values``, a parameter that nobody passes: it works for subclasses too,
where an overload with a type for ``self`` doesn't.
"""

import uuid
from typing import TYPE_CHECKING, Any, Generic, Literal, Unpack, overload

from ..schemes import TimeScheme
from .base import SortableIDField
from .generating import BigIntegerField, CharField, GetType, SetType, UUIDField
from .options import OWN

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable

    from .options import FieldOptions

    class Values(Generic[SetType, GetType]):
        """What an attribute takes, and what it gives."""

    TEXT: Values[str | Combinable, str] = Values()
    TEXT_OR_NONE: Values[str | Combinable | None, str | None] = Values()
    INTEGER: Values[int | str | Combinable, int] = Values()
    INTEGER_OR_NONE: Values[int | str | Combinable | None, int | None] = Values()
    UUID: Values[uuid.UUID | str | Combinable, uuid.UUID] = Values()
    UUID_OR_NONE: Values[uuid.UUID | str | Combinable | None, uuid.UUID | None] = Values()


class SortableTextField(SortableIDField[SetType, GetType], CharField[SetType, GetType]):
    """A field whose values are ``str``: use one of its subclasses, or write one.

    ``scheme_name`` of a subclass is the name of its scheme, of this package or registered.
    """

    value_type = str

    if TYPE_CHECKING:
        _pyi_private_set_type: str | Combinable
        _pyi_private_get_type: str
        _pyi_lookup_exact_type: str

        @overload
        def __init__(
            self,
            *names: Any,
            null: Literal[False] = ...,
            _values: Values[SetType, GetType] = TEXT,  # type: ignore[assignment]
            **options: Unpack[FieldOptions],
        ) -> None: ...
        @overload
        def __init__(
            self,
            *names: Any,
            null: bool,
            _values: Values[SetType, GetType] = TEXT_OR_NONE,  # type: ignore[assignment]
            **options: Unpack[FieldOptions],
        ) -> None: ...
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...


class SortableIntegerField(SortableIDField[SetType, GetType], BigIntegerField[SetType, GetType]):
    """A field whose values are ``int``: use one of its subclasses, or write one, as for text."""

    value_type = int

    if TYPE_CHECKING:
        _pyi_private_set_type: int | str | Combinable
        _pyi_private_get_type: int
        _pyi_lookup_exact_type: int | str

        @overload
        def __init__(
            self,
            *names: Any,
            null: Literal[False] = ...,
            _values: Values[SetType, GetType] = INTEGER,  # type: ignore[assignment]
            **options: Unpack[FieldOptions],
        ) -> None: ...
        @overload
        def __init__(
            self,
            *names: Any,
            null: bool,
            _values: Values[SetType, GetType] = INTEGER_OR_NONE,  # type: ignore[assignment]
            **options: Unpack[FieldOptions],
        ) -> None: ...
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...


class SortableUUIDField(SortableIDField[SetType, GetType], UUIDField[SetType, GetType]):
    """A field whose values are ``uuid.UUID``: use one of its subclasses, or write one, as for text.

    ``accept_other_versions=True`` is for a column that already holds other UUIDs, such as the
    random ones of ``uuid.uuid4``. These are read, looked up, shown and saved like the field's own.
    They carry no time: ``created_at`` is None, no range of creation times finds them, and they
    sort arbitrarily among the others. New ids have the field's version.
    """

    scheme: TimeScheme
    value_type = uuid.UUID
    own_options = (*OWN, "accept_other_versions")

    if TYPE_CHECKING:
        _pyi_private_set_type: uuid.UUID | str | Combinable  # type: ignore[assignment]
        _pyi_private_get_type: uuid.UUID
        _pyi_lookup_exact_type: uuid.UUID | str

        @overload
        def __init__(
            self,
            *names: Any,
            null: Literal[False] = ...,
            _values: Values[SetType, GetType] = UUID,  # type: ignore[assignment]
            **options: Unpack[FieldOptions],
        ) -> None: ...
        @overload
        def __init__(
            self,
            *names: Any,
            null: bool,
            _values: Values[SetType, GetType] = UUID_OR_NONE,  # type: ignore[assignment]
            **options: Unpack[FieldOptions],
        ) -> None: ...
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
