"""When an id is made, and what by."""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.utils.functional import cached_property

from .. import conf
from ..schemes import ID, Scheme, TimeScheme
from ..workers import this_process
from . import history

if TYPE_CHECKING:
    from django.db.models import Field
    from typing_extensions import TypeVar

    # What an attribute takes, and what it gives; Any in an annotation that doesn't say it.
    SetType = TypeVar("SetType", contravariant=True, default=Any)
    GetType = TypeVar("GetType", covariant=True, default=Any)
else:
    SetType = GetType = Any
    # Only the stubs of Django's Field take types: the base is the class itself.
    Field = {(Any, Any): models.Field}


def _asked_for(instance: models.Model) -> set[str]:
    """The columns that a form has left blank, so that a row that exists gets a new id there.

    Other rows keep NULL when they are saved: ``backfill_ids`` gives them an id of their time.
    """
    names: set[str] = instance.__dict__.setdefault("_ids_asked_for", set())
    return names


class GeneratedIDField(Field[SetType, GetType]):
    """A field whose ids Python makes: a key with its instance, others when the row is inserted."""

    scheme: Scheme

    def __class_getitem__(cls, types: object) -> type[Self]:
        """The class itself, as Django's ``ForeignKey[...]``: the types are for type checkers."""
        return cls

    @property
    def generates_ids(self) -> bool:
        """Whether Python makes the ids; the database does where there is a ``db_default``, and a
        history model has copies."""
        return not self.has_db_default() and (self.primary_key or not history.is_copy(self))

    @property
    def db_returning(self) -> bool:
        # Not where a subclass for DEFAULT_AUTO_FIELD is an AutoField too: MySQL, which returns
        # nothing but counters, would put a 0 in the place of the id.
        return self.has_db_default() and super().db_returning

    def has_default(self) -> bool:
        # A primary key says so, and save() then inserts a new instance without an UPDATE first,
        # which could hit another row.
        return self.primary_key and self.generates_ids

    def get_default(self) -> Any:
        if not self.generates_ids:
            return super().get_default()
        return self.generate() if self._made_with_instance else None

    @property
    def _made_with_instance(self) -> bool:
        # Not in a migration: Django copies the default of an added or altered column into every
        # row, and the field is then one of a historical model.
        model = getattr(self, "model", None)
        historical = model and model.__module__ == "__fake__"
        return (
            self.primary_key and not historical and not getattr(model, "makes_key_on_insert", False)
        )

    def generate(self) -> ID:
        """A new id of now."""
        return self._minting_scheme.generate()

    @cached_property
    def _minting_scheme(self) -> Scheme:
        conf.apply_rollback_rule()
        scheme = self.scheme
        if isinstance(scheme, TimeScheme) and scheme.layout.workers:
            worker = conf.worker()
            return scheme.with_worker(this_process.lease if worker == conf.LEASE else worker)
        return scheme

    def save_form_data(self, instance: models.Model, data: Any) -> None:
        if data is None and self.generates_ids and not instance._state.adding:
            if self.primary_key:
                return  # The row keeps its key: with another one it would be saved a second time.
            if not self.null:
                _asked_for(instance).add(self.attname)
        super().save_form_data(instance, data)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = getattr(model_instance, self.attname)
        if (
            value is None
            and self.generates_ids
            and (add or self.attname in _asked_for(model_instance))
        ):
            _asked_for(model_instance).discard(self.attname)
            value = self.generate_for(model_instance)
            setattr(model_instance, self.attname, value)
        elif self._is_canonical(value):
            return value
        elif isinstance(value, str | int | uuid.UUID):
            # Another spelling would not be found by what compares Python values: prefetching.
            canonical = self.to_python(value)
            if canonical is not value:
                setattr(model_instance, self.attname, canonical)
            return canonical
        return value

    def _is_canonical(self, value: object) -> bool:
        """Whether this is the Python value of an id, if of any."""
        if type(value) is str:
            return self.scheme.is_canonical(value)
        return type(value) is self.scheme.value_type

    def generate_for(self, model_instance: models.Model) -> ID:
        """A new id for a row that is about to be inserted."""
        return self.generate()

    def generate_many_for(self, instances: Sequence[models.Model], using: str) -> Sequence[ID]:
        """New ids for rows that are about to be inserted into the database ``using``, in order."""
        return self._minting_scheme.generate_many(len(instances))

    def get_pk_value_on_save(self, instance: models.Model) -> Any:
        return self.generate_for(instance) if self.generates_ids else None


def taken_options(field: Any, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Takes the options of the scheme out of ``kwargs``: those that differ from the defaults of the
    field's class, and those that differ from the scheme's own, which the classes of this package
    have.
    """
    usual: dict[str, Any] = {}
    of_scheme: dict[str, Any] = {}
    for each in reversed(type(field).__mro__):
        options = vars(each).get("scheme_options", {})
        usual |= options
        if each.__module__.startswith(f"{__package__}."):
            of_scheme |= options
    usual |= vars(field).get("scheme_options", {})
    given = {key: kwargs.pop(key, default) for key, default in usual.items()}
    own, for_scheme = (
        {key: value for key, value in given.items() if value != defaults.get(key)}
        for defaults in (usual, of_scheme)
    )
    return own, for_scheme
