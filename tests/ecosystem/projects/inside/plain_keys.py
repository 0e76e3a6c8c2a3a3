"""Django's own fields as keys that are None until the insert: what fails with these as well doesn't
fail because of this package.
"""

import secrets
import sys
import uuid

from django.db import models
from django.db.models.fields import AutoFieldMeta


class PlainAutoField:
    """For a field of Django, whose values a subclass generates."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs | {"blank": True})

    def pre_save(self, instance: models.Model, add: bool) -> object:
        if add and getattr(instance, self.attname) is None:
            setattr(instance, self.attname, self.generate())
        return getattr(instance, self.attname)

    def get_pk_value_on_save(self, instance: models.Model) -> object:
        caller = sys._getframe(1)
        saved = caller.f_code is models.Model._save_table.__code__ and not caller.f_locals["raw"]
        return None if saved else self.generate()

    def formfield(self, **kwargs: object) -> None:
        return None

    def save_form_data(self, instance: models.Model, data: object) -> None:
        pass

    def validate(self, value: object, instance: models.Model | None) -> None:
        pass


class PlainUUIDAutoField(PlainAutoField, models.UUIDField):
    def generate(self) -> uuid.UUID:
        return uuid.uuid4()


class PlainTextAutoField(PlainAutoField, models.CharField):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs | {"max_length": 26})

    def generate(self) -> str:
        return secrets.token_hex(13).upper()


class PlainIntegerAutoField(PlainAutoField, models.BigIntegerField):
    def generate(self) -> int:
        return 1 << 60 | secrets.randbits(60)


_subclasses_of_django = AutoFieldMeta.__subclasscheck__


def _subclasses(cls: type, subclass: type) -> bool:
    return issubclass(subclass, PlainAutoField) or _subclasses_of_django(cls, subclass)


AutoFieldMeta.__subclasscheck__ = _subclasses
