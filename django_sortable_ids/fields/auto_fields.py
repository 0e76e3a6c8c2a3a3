"""Keys like Django's ``AutoField``: None until the row is inserted."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import options

from . import history_models
from .base import SortableIDField
from .callers import handles_conflicts, inserts_later
from .generating import GetType, SetType
from .options import COLUMN, WrongOption


class SortableAutoField(SortableIDField[SetType, GetType]):
    """A primary key that is None until its row is inserted: Python generates it with the INSERT.

    For ``DEFAULT_AUTO_FIELD``, ``AppConfig.default_auto_field`` and models. Forms have no field for
    the key, and ``Model(pk=...).save()`` updates the row with that key, or inserts it. One for
    another scheme is ``class KSUIDAutoField(SortableAutoField, KSUIDField)``.
    """

    django_defaults = {"blank": True}

    def _wrong_for_the_model(self) -> Iterator[WrongOption]:
        yield from super()._wrong_for_the_model()
        if not (self.primary_key or history_models.is_copy(self)):
            name = type(self).__name__
            yield WrongOption(COLUMN, f"{name} is for primary keys: expected primary_key=True")

    def contribute_to_class(
        self, cls: type[models.Model], name: str, private_only: bool = False
    ) -> None:
        super().contribute_to_class(cls, name, private_only)
        if self.primary_key:
            # The admin asks for it: forms inside forms then have a hidden input for the key. As
            # a copy, because save() leaves the field itself out of an INSERT.
            cls._meta.auto_field = copy(self)

    def has_default(self) -> bool:
        # With a default, save() would insert every new instance, also one whose key was set to that
        # of an existing row.
        return False

    def get_pk_value_on_save(self, instance: models.Model) -> Any:
        # save() inserts without trying an UPDATE first while the key is None, and the INSERT calls
        # pre_save(). Fixtures and bulk_create() need the key now, unless that handles conflicts.
        return None if inserts_later() else super().get_pk_value_on_save(instance)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        is_generated = add and getattr(model_instance, self.attname) is None
        value = super().pre_save(model_instance, add)
        if is_generated and handles_conflicts():  # The row may exist, with another key.
            setattr(model_instance, self.attname, None)
        return value

    def formfield(self, **kwargs: Any) -> None:
        return None

    def save_form_data(self, instance: models.Model, data: Any) -> None:
        """Does nothing: formsets have a field for the key, whose data is the instance itself."""

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        """Accepts None."""


def plain_source(key: SortableIDField, *extra: str) -> str:
    """A field for ids of the key that is no key, with more options, as Python source."""
    classes = (parent for parent in type(key).__mro__ if not issubclass(parent, SortableAutoField))
    kept, deconstructed = {"storage", *key.scheme_arguments}, key.deconstruct()[3].items()
    arguments = (f"{name}={value!r}" for name, value in deconstructed if name in kept)
    return f"{next(classes).__name__}({', '.join([*arguments, *extra])})"


# DEFAULT_AUTO_FIELD takes subclasses of AutoField only. A real one would be an IntegerField, too,
# and whoever finds an AutoField expects a sequence: on PostgreSQL, loaddata resets it with
# max(id), which uuid lacks. Django reads this name for that check only.
options.AutoField = (models.AutoField, SortableAutoField)  # type: ignore[assignment,attr-defined]


def _default_key(meta: options.Options[Any]) -> type[models.Field[Any, Any]]:
    """The class of a key that a model doesn't name."""
    usual: type[models.Field[Any, Any]] = _djangos_default_key(meta)
    if meta.apps is apps:
        return usual
    from django.db.migrations.state import StateApps  # which only migrations need

    if meta.db_table == "django_migrations":
        actual: Any = models.BigAutoField
    elif isinstance(meta.apps, StateApps) and meta.app_label in apps.app_configs:
        running = copy(meta)
        running.apps = apps
        actual = _djangos_default_key(running)
    else:
        return usual
    is_ours = issubclass(usual, SortableIDField) or issubclass(actual, SortableIDField)
    return actual if is_ours else usual


# An automatic table of a many-to-many relation has the key of this class. In migrations, Django
# takes it from DEFAULT_AUTO_FIELD also where the app has a default_auto_field, and creates another
# table than that of the running model. The table of migrations, which no migration changes, keeps
# the numbers that it may have already.
_djangos_default_key = options.Options._get_default_pk_class  # type: ignore[attr-defined]
options.Options._get_default_pk_class = _default_key  # type: ignore[attr-defined]
