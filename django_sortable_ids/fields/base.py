"""The model field that all schemes share."""

from contextlib import suppress
from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import EmptyResultSet, SynchronousOnlyOperation, ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.translation import gettext_lazy as _

from ..schemes import ID, InvalidID, TimeScheme
from ..schemes.errors import Message, shown
from .callers import SESSIONS, UPDATES, is_called_by
from .generating import GetType, SetType
from .options import FieldWithOptions
from .public import Candidates, Malformed, evaluated
from .storage import INTERNAL_TYPES, BinaryStorage, OnlyConverters, Storage, storage_for


class SortableIDField(FieldWithOptions[SetType, GetType]):
    """An id of one scheme, generated in Python: use one of its subclasses.

    A primary key gets its id when the instance is created; any other column, and a key that is an
    AutoField, a sequence or of ``created_from``, when the row is inserted. So no migration can copy
    one id into many rows. A row that was loaded with NULL keeps it when it is saved:
    ``backfill_ids`` gives it an id of its creation time. With ``db_default`` the database generates
    the ids, not Python.
    """

    description = _("Id that sorts by creation time")
    # The base classes for the type of the value would add the limits of integers.
    validators = models.Field.validators
    empty_strings_allowed = False
    default_error_messages = {
        "invalid": _("“%(value)s” is not a valid %(scheme)s. Expected a text such as %(example)s."),
    }

    # Values

    def to_python(self, value: Any) -> Any:
        """The value of any accepted spelling: public text, bare text, or the Python type itself.

        If a text may stand for several, queries for the value that exists in the table. Raises
        ``ValidationError`` for anything else, of any type.
        """
        return self._single(self._validated(value))

    def _validated(self, value: Any) -> Any:
        """Like ``to_python``, but ``Candidates`` for a text that may stand for several ids."""
        try:
            return self._read(value)
        except (InvalidID, TypeError):
            if self.primary_key and is_called_by(SESSIONS):
                return None  # matches no user, so the visitor is logged out
            raise self.invalid(value) from None

    def _read(self, value: Any) -> Any:
        """Like ``_validated``; ``InvalidID``, or ``TypeError`` for a value of another type."""
        if value is None or self.scheme.is_canonical(value):
            return value
        if not isinstance(value := evaluated(value), str):
            try:
                self.scheme.to_int(value)
                return value
            except InvalidID:
                converted = self.public_text.in_own_type(value)
                if converted is not value:
                    return self._read(converted)
                if not self.masked:  # A UUIDv4 may be a facade, which a UUIDv7 never is.
                    raise
        candidates = self.public_text.read(value)
        return candidates[0] if len(candidates) == 1 else Candidates(candidates)

    def _single(self, value: Any, using: str | None = None) -> Any:
        return self.one_of(value.values, using) if isinstance(value, Candidates) else value

    def one_of(self, candidates: tuple[ID, ...], using: str | None = None) -> ID:
        """The candidate that exists in the database ``using``; the first one if none does."""
        model = getattr(self, "model", None)
        if len(candidates) == 1 or model is None:
            return candidates[0]
        rows = model._base_manager.using(using).filter(**{f"{self.name}__in": candidates})
        existing = set(rows.values_list(self.attname, flat=True))
        return next((value for value in candidates if value in existing), candidates[0])

    def candidates(self, text: Any) -> tuple[ID, ...]:
        """Every value that a public text may stand for: several only with several mask keys."""
        try:
            return self.public_text.candidates(text)
        except InvalidID:
            raise self.invalid(text) from None

    def readings(self, spelling: Any) -> tuple[ID, ...]:
        """Every value that a spelling may stand for; none for anything else."""
        try:
            value = self._read(spelling)
        except (InvalidID, TypeError):
            return ()
        return value.values if isinstance(value, Candidates) else (value,)

    def parse_public(self, text: Any) -> ID:
        """The value of a public text; ``ValidationError`` for anything else.

        If several keys may have masked it, queries for the value that exists in the table, and
        falls back to the likeliest one. In an event loop, which can't wait for a query, it is the
        text itself, which queries and columns take.
        """
        candidates = self.candidates(text)
        try:
            return self.one_of(candidates)
        except SynchronousOnlyOperation:
            return text  # type: ignore[no-any-return]

    def canonical(self, value: Any) -> Any:
        """The value of a text that was assigned to a row; what is no id stays as it is."""
        if not self._is_canonical(value):
            with suppress(ValidationError, SynchronousOnlyOperation):
                return self.to_python(value)
        return value

    def shown(self, value: Any) -> Any:
        """The public text of an id of a row, a value or a text; what is neither stays as it is."""
        if isinstance(value, self.scheme.value_type):
            return self.public_text.format(value)
        read = self.canonical(value)
        return value if read is value else self.public_text.format(read)

    def invalid(self, value: Any) -> ValidationError:
        """The error for a malformed id; its message shows a valid example. It names the field of
        the model, since the text may be an id of the scheme that only lacks its prefix or mask."""
        title, is_public = self.scheme.title, self.masked or self.public_text.full_prefix
        if is_public and hasattr(self, "model"):
            title = f"{self.model._meta.verbose_name} {self.verbose_name}"
        return ValidationError(
            self.error_messages["invalid"],
            code="invalid",
            params={
                "value": shown(value.found if isinstance(value, Malformed) else value),
                "scheme": title,
                "example": Message(getattr, self.public_text, "example"),
            },
        )

    def clean(self, value: Any, model_instance: models.Model | None) -> Any:
        if value in (None, "") and self.generates_ids:
            return None
        return super().clean(value, model_instance)

    # The database

    def stored(self, connection: BaseDatabaseWrapper) -> Storage:
        """How the connection's database stores the column, even if the public text is wrong."""
        vendor = connection.vendor
        if vendor not in self._stored:
            self.refuse(self.wrong_for_the_column)
            stored = storage_for(self.stored_scheme, self.storage, vendor, self.max_length)
            self._stored[vendor] = stored
        return self._stored[vendor]

    def get_internal_type(self) -> str:
        # The same on all databases, however the column is stored: other packages know the field by
        # it. Django's types take PostgreSQL's fast bulk insert.
        return INTERNAL_TYPES[self.stored_scheme.value_type]

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return self.stored(connection).db_type(connection)

    def cast_db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        if self.stored_scheme.value_type is int:
            return models.Field.cast_db_type(self, connection)
        db_type = self.db_type(connection)
        # MySQL casts to no varchar.
        return db_type.removeprefix("var") if connection.vendor == "mysql" else db_type

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        return super().db_parameters(connection) | {
            "collation": self.db_collation or self.stored(connection).collation(connection)
        }

    def get_prep_value(self, value: Any) -> Any:
        """One value or ``Malformed``, because many-to-many relations compare it with keys.
        ``Candidates`` stay."""
        if isinstance(value, Candidates):
            return value
        return self._single(self.read_for_lookup(value))

    def read_for_lookup(self, value: Any) -> Any:
        """For lookups: may be ``Candidates`` or ``Malformed``; ``TypeError`` for another type."""
        is_read = value is None or isinstance(value, Malformed | Candidates)
        if is_read or hasattr(value, "resolve_expression"):
            return value
        try:
            return self._read(value)
        except InvalidID:
            return Malformed(value)
        except TypeError as error:
            if isinstance(value, BinaryStorage.driver_types) and is_called_by(UPDATES):
                return self.scheme.from_trusted(int.from_bytes(value, "big"))
            is_time = isinstance(value, date) and isinstance(self.scheme, TimeScheme)
            advice = f"; to compare times, write {self.name}__created_at" if is_time else ""
            raise TypeError(f"{self}: {error}{advice}") from None

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        if not prepared:
            stored, converted = self.stored(connection), None
            if isinstance(value, stored.driver_types):
                # Django passes one when it prefetches through a many-to-many relation.
                with suppress(ValueError):
                    converted = self.scheme.from_int(stored.from_db(value))
            value = self.read_for_lookup(value) if converted is None else converted
        if isinstance(value, Malformed):
            if prepared:
                raise EmptyResultSet
            # A Value() in an expression, such as part of a composite key. On EmptyResultSet, Django
            # would use the malformed value itself.
            raise self.invalid(value.found)
        if value is None:
            return None
        # An order comparison, or part of a composite key, takes a single value.
        value = self._single(value, connection.alias)
        return self.stored(connection).to_db(self.scheme.to_int(value), connection)

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        if value is None:
            return None
        if hasattr(value, "as_sql"):
            is_constant = isinstance(value, models.Value)
            return self.get_db_prep_save(value.value, connection) if is_constant else value
        try:
            is_plain = type(value) is self.scheme.value_type
            number = self.scheme.to_int(value if is_plain else evaluated(value))
        except ValueError:
            number = self.scheme.to_int(self._single(self._validated(value), connection.alias))
        return self.stored(connection).to_db(number, connection)

    def get_db_converters(self, connection: BaseDatabaseWrapper) -> Any:
        stored = self.stored(connection)
        returned = stored.returned
        if returned is self.scheme.value_type and returned not in stored.driver_types:
            return []
        return OnlyConverters([stored.reader(self.scheme, self)])

    def from_db_value(
        self, value: Any, expression: Any, connection: BaseDatabaseWrapper
    ) -> ID | None:
        return self.stored(connection).reader(self.scheme, self)(value)

    # Forms

    def formfield(self, **kwargs: Any) -> Any:
        defaults: dict[str, Any] = {"form_class": IDFormField}
        if issubclass(kwargs.get("form_class", IDFormField), forms.CharField):
            defaults["empty_value"] = None
        if self.masked and "form_class" not in kwargs:
            defaults["masked_as"] = self
        if self.generates_ids:
            # A blank input is allowed. Django would take an initial value from ``default``.
            defaults |= {"required": False, "initial": None, "show_hidden_initial": False}
        widget = kwargs.get("widget")
        widget_class = widget if isinstance(widget, type) else type(widget)
        if issubclass(widget_class, forms.NumberInput):
            # The admin has it for integers: it takes no letters, and so no public text.
            del kwargs["widget"]
        return models.Field.formfield(self, **(defaults | kwargs))


class IDFormField(forms.CharField):
    """The text of an id; its initial value may be a UUID or a number.

    If it is masked, shows and accepts the public text and nothing else. A form that accepted a bare
    value and showed its public text would undo the mask: that text reveals the times of all ids
    with the same random bits.
    """

    def __init__(self, *, masked_as: SortableIDField | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._masked_as = masked_as

    def prepare_value(self, value: Any) -> Any:
        if self._masked_as and not isinstance(value, str):
            return self._masked_as.shown(value)
        return value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if self._masked_as and text not in self.empty_values:
            self._masked_as.candidates(text)
        return text

    def has_changed(self, initial: Any, data: Any) -> bool:
        text = self.prepare_value(initial)
        return super().has_changed(None if text is None else str(text), data)
