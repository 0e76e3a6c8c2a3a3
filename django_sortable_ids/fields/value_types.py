"""What the fields of one type of value have in common: types, which only type checkers read.

``models.CharField`` is generic in what an attribute takes and in what it gives, and so are these
fields. The plugin of django-stubs for mypy reads ``_pyi_...``. Other type checkers solve the two
types from the default of ``_values``, a parameter that nobody passes: it works for subclasses too,
where an overload with a type for ``self`` doesn't.
"""

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

from .base import SortableIDField
from .django_fields import BigIntegerField, CharField
from .generating import GetType, SetType

if TYPE_CHECKING:
    import uuid

    from django.db.models.expressions import Combinable

    class Values(Generic[SetType, GetType]):
        """What an attribute takes, and what it gives."""

    TEXT: Values[str | Combinable, str] = Values()
    TEXT_OR_NONE: Values[str | Combinable | None, str | None] = Values()
    INTEGER: Values[int | str | Combinable, int] = Values()
    INTEGER_OR_NONE: Values[int | str | Combinable | None, int | None] = Values()
    UUID: Values[uuid.UUID | str | Combinable, uuid.UUID] = Values()
    UUID_OR_NONE: Values[uuid.UUID | str | Combinable | None, uuid.UUID | None] = Values()
else:
    TEXT = TEXT_OR_NONE = UUID = UUID_OR_NONE = None


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
            verbose_name: Any = ...,
            name: str | None = ...,
            *,
            null: Literal[False] = ...,
            prefix: str | None = ...,
            separator: str = ...,
            encoding: str | None = ...,
            storage: str | None = ...,
            db_collation: str | None = ...,
            _values: Values[SetType, GetType] = TEXT,  # type: ignore[assignment]
            **kwargs: Any,
        ) -> None: ...
        @overload
        def __init__(
            self,
            verbose_name: Any = ...,
            name: str | None = ...,
            *,
            null: bool,
            prefix: str | None = ...,
            separator: str = ...,
            encoding: str | None = ...,
            storage: str | None = ...,
            db_collation: str | None = ...,
            _values: Values[SetType, GetType] = TEXT_OR_NONE,  # type: ignore[assignment]
            **kwargs: Any,
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
            verbose_name: Any = ...,
            name: str | None = ...,
            *,
            null: Literal[False] = ...,
            prefix: str | None = ...,
            separator: str = ...,
            encoding: str | None = ...,
            storage: str | None = ...,
            _values: Values[SetType, GetType] = INTEGER,  # type: ignore[assignment]
            **kwargs: Any,
        ) -> None: ...
        @overload
        def __init__(
            self,
            verbose_name: Any = ...,
            name: str | None = ...,
            *,
            null: bool,
            prefix: str | None = ...,
            separator: str = ...,
            encoding: str | None = ...,
            storage: str | None = ...,
            _values: Values[SetType, GetType] = INTEGER_OR_NONE,  # type: ignore[assignment]
            **kwargs: Any,
        ) -> None: ...
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
