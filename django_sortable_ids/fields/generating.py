"""What a field inherits from Django's, and whether an id comes with the instance or the INSERT."""

import functools
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.fields import AutoFieldMixin
from django.db.models.query_utils import RegisterLookupMixin, class_or_instance_method
from django.utils.functional import cached_property

from .. import conf
from ..schemes import ID, OutOfRange, Scheme, TimeScheme
from ..schemes.generator import Generator
from . import history_models, times
from .callers import is_called_by_search

if TYPE_CHECKING:
    from django.db.models import BigIntegerField as BigIntegerField
    from django.db.models import CharField as CharField
    from django.db.models import Field
    from django.db.models import UUIDField as UUIDField
    from typing_extensions import TypeVar

    # What an attribute takes, and what it gives; Any in an annotation that doesn't say it.
    SetType = TypeVar("SetType", contravariant=True, default=Any)
    GetType = TypeVar("GetType", covariant=True, default=Any)
else:
    SetType = GetType = Any

    # Django's fields, whose stubs take types: at runtime each is the class.
    BigIntegerField, CharField, Field, UUIDField = (
        defaultdict(lambda base=base: base)
        for base in (models.BigIntegerField, models.CharField, models.Field, models.UUIDField)
    )

_OF_VALUES = (models.CharField, models.IntegerField, models.UUIDField)


class GeneratedIDField(Field[SetType, GetType]):
    """A field whose ids Python generates: a key with its instance, others with the INSERT."""

    scheme: Scheme
    stored_scheme: Scheme
    """The scheme of the column, also if options of the public text are wrong."""
    created_from: str | None = None
    """The field with the creation time of a row, for ids that are generated with the INSERT."""
    generates_on_insert: ClassVar[bool] = False
    """Whether a key is always generated with the INSERT, too."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if AutoFieldMixin in cls.__mro__:
            raise TypeError(
                f"{cls.__name__} derives from an AutoField of Django, whose keys are integers that "
                f"the database counts: derive from SortableAutoField instead"
            )

    def __class_getitem__(cls, types: object) -> type[Self]:
        """The class itself, as Django's ``ForeignKey[...]``: the types are for type checkers."""
        return cls

    @property
    def generates_ids(self) -> bool:
        """Whether Python generates the ids: not with a ``db_default``, where the database does,
        and not in a history model, whose rows copy theirs."""
        return not self.has_db_default() and (self.primary_key or not history_models.is_copy(self))

    def has_default(self) -> bool:
        # True for a primary key: save() then inserts a new instance without trying an UPDATE first,
        # which could hit another row.
        return self.primary_key and self.generates_ids

    @property
    def default(self) -> Any:
        """A function that generates a value, for packages that call it if ``has_default()``."""
        generates = self.has_default() and self.given_default is models.NOT_PROVIDED
        return self.generate if generates else self.given_default

    @default.setter
    def default(self, value: Any) -> None:
        self.given_default = value

    def get_default(self) -> Any:
        if self._generated_with_instance:
            return self.generate()
        return None if self.generates_ids else super().get_default()

    def contribute_to_class(self, cls: Any, name: str, private_only: bool = False) -> None:
        vars(self).pop("_generated_with_instance", None)  # of another model, if this is a copy
        super().contribute_to_class(cls, name, private_only)

    @cached_property
    def _generated_with_instance(self) -> bool:
        # Not in a migration, whose models are historical: Django copies the default of an added or
        # altered column into every row.
        model = getattr(self, "model", None)
        historical = model and model.__module__ == "__fake__"
        of_model = self.created_from or getattr(model, "makes_key_on_insert", False)
        on_insert = self.generates_on_insert or of_model
        return self.has_default() and not historical and not on_insert

    def generate(self) -> ID:
        """A new id of the current time."""
        return self._generating_scheme.generate()

    @cached_property
    def _generating_scheme(self) -> Scheme:
        Generator.rule = conf.rollback_rule()
        if not self.workers:
            return self.scheme
        worker: Any = conf.worker()
        if worker == conf.LEASE:
            from ..workers import worker_or_lease  # needs the database

            worker = worker_or_lease()
        return self.with_worker(worker)

    @property
    def workers(self) -> int:
        """How many worker numbers fit into the ids; 0 if they have none."""
        scheme = self.scheme
        return (isinstance(scheme, TimeScheme) and scheme.layout.workers) or 0

    def with_worker(self, worker: Any) -> Scheme:
        """The scheme with a worker number; ``ImproperlyConfigured`` if it has no such number."""
        scheme: Any = self.scheme
        try:
            return scheme.with_worker(worker)  # type: ignore[no-any-return]
        except ValueError as error:
            setting = f"SORTABLE_IDS['WORKER'] or {conf.WORKER_VARIABLE}"
            raise ImproperlyConfigured(f"{setting} doesn't fit {self}: {error}") from None

    def save_form_data(self, instance: models.Model, data: Any) -> None:
        # A blank input requests an id for a new row, and keeps that of an existing one.
        if data is not None or not self.generates_ids or instance._state.adding:
            super().save_form_data(instance, data)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = getattr(model_instance, self.attname)
        if value is None and self.generates_ids and add:
            value = self.generate_for(model_instance)
            setattr(model_instance, self.attname, value)
        elif self._is_canonical(value):
            return value
        elif value is not None and not hasattr(value, "resolve_expression"):
            # Prefetching compares Python values and would miss another spelling.
            canonical = self.to_python(value)
            if canonical is not value:
                setattr(model_instance, self.attname, canonical)
            return canonical
        return value

    def _is_canonical(self, value: object) -> bool:
        """Whether a value is in canonical form, if it is an id at all."""
        if type(value) is str:
            return self.scheme.is_canonical(value)
        return type(value) is self.scheme.value_type

    def generate_for(self, model_instance: models.Model) -> ID:
        """A new id for a row that is about to be inserted."""
        if self.created_from is None:
            return self.generate()
        return self.generate_many_for([model_instance], DEFAULT_DB_ALIAS)[0]

    def generate_many_for(self, instances: Sequence[models.Model], using: str) -> Sequence[ID]:
        """New ids for rows that are about to be inserted into the database ``using``, in order.

        With ``created_from``, only ids of the same tick follow the order of the rows.
        """
        scheme: Any = self._generating_scheme
        if self.created_from is None:
            return scheme.generate_many(len(instances))  # type: ignore[no-any-return]
        of_rows = [times.time_of(row, str(self.created_from)) for row in instances]
        try:
            return times.generate_by_time(
                of_rows, lambda at: None if at is None else scheme.tick(at), scheme.generate_many
            )
        except OutOfRange as error:
            raise ValidationError(str(error), code="invalid") from None

    def get_pk_value_on_save(self, instance: models.Model) -> Any:
        return self.generate_for(instance) if self.generates_ids else None

    # Lookups

    @classmethod
    @functools.cache  # cleared by Django when a lookup is registered
    def get_class_lookups(cls) -> dict[str, Any]:
        # Without lookups of CharField and its like: they expect its column, an id may be bytes.
        parents = [
            parent
            for parent in cls.__mro__
            if issubclass(parent, GeneratedIDField) or not issubclass(parent, _OF_VALUES)
        ]
        registered = [vars(parent).get("class_lookups", {}) for parent in parents]
        return RegisterLookupMixin.merge_dicts(registered)

    get_lookups = class_or_instance_method(
        get_class_lookups.__func__,  # type: ignore[attr-defined]
        RegisterLookupMixin.get_instance_lookups,
    )

    def get_lookup(self, lookup_name: str) -> Any:
        # For "id__exact" among search_fields, the admin of Django 5.2 would cast the column to
        # text. It searches by "id__exact__icontains" if there is no such lookup.
        if lookup_name == "exact" and is_called_by_search():
            return None
        return super().get_lookup(lookup_name)

    def get_transform(self, lookup_name: str) -> Any:
        if lookup_name == "exact":
            return lambda expression: expression  # of ``id__exact__icontains``
        return super().get_transform(lookup_name)
