"""Which names in code and columns stand for a moved key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from django.apps import apps
from django.db import models

from ..changes.graph import final_target

Model = type[models.Model]
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDS = ("_id", "_pk")
_MANY = ("_ids", "_pks")


class Names:
    """What the names of the project's models, their fields and their classes tell about keys.

    A name that is both of a moved model and of another one counts as that of the moved one.
    """

    def __init__(self, labels: Collection[str]) -> None:
        """``labels`` are the models whose own key moves: ``app.Model``."""
        keys = {apps.get_model(each)._meta.pk for each in labels}
        every = apps.get_models()
        self.moved: list[Model] = [each for each in every if final_target(each._meta.pk) in keys]
        self.others: list[Model] = [each for each in every if each not in self.moved]
        self._words = {**_of_models(self.others, False), **_of_relations(every, keys)}
        self._words |= _of_models(self.moved, True)
        self._classes = {**_classes(self.others, False), **_classes(self.moved, True)}
        self._near = re.compile("|".join(rf"\b{each.__name__}\b" for each in self.moved) or "(?!)")

    def is_moved(self, word: str) -> bool | None:
        """Whether a word such as ``customer``, ``new_customer`` or ``buyer`` stands for a row whose
        key moves; None if it is unknown."""
        word = word.lower().lstrip("_")
        while word:
            if word in self._words:
                return self._words[word]
            _, _, word = word.partition("_")
        return None

    def is_class_moved(self, name: str) -> bool | None:
        """The same for the name of a class of models, also an abstract one."""
        return self._classes.get(name)

    def is_key(self, name: str) -> bool | None:
        """Whether a name such as ``customer_id`` stands for a moved key; None for ``id`` and
        ``pk``, which may be of any model."""
        name = name.lower()
        if name in ("id", "pk"):
            return None
        return name.endswith(_ENDS) and self.is_moved(name[:-3]) is True

    def is_of_unknown(self, name: str) -> bool:
        """Whether a name such as ``note_id`` stands for a key of a row that is unknown."""
        name = name.lower()
        return name.endswith(_ENDS) and self.is_moved(name[:-3]) is None

    def is_several(self, name: str) -> bool:
        """Whether a name such as ``customer_ids`` stands for several moved keys."""
        return name.lower().endswith(_MANY) and self.is_moved(name[:-4]) is True

    def are_in(self, text: str) -> bool:
        """Whether a text names a moved model."""
        return self._near.search(text) is not None


def _snake(model: Model) -> str:
    return _WORDS.sub("_", model.__name__).lower()


def _of_models(found: Collection[Model], is_moved: bool) -> dict[str, bool]:
    names = [_snake(each) for each in found] + [str(each._meta.model_name) for each in found]
    return dict.fromkeys(names, is_moved)


def _of_relations(found: Collection[Model], keys: Collection[Any]) -> dict[str, bool]:
    """The names of foreign keys."""
    named: dict[str, bool] = {}
    for model in found:
        for field in model._meta.local_concrete_fields:
            if field.remote_field is not None:
                is_moved = final_target(field) in keys
                named[field.name.lower()] = named.get(field.name.lower(), False) or is_moved
    return named


def _classes(found: Collection[Model], is_moved: bool) -> dict[str, bool]:
    """The names of models and of the classes that they inherit from."""
    return dict.fromkeys((each for model in found for each in _bases(model)), is_moved)


def _bases(model: Model) -> Iterator[str]:
    for each in model.__mro__:
        if issubclass(each, models.Model) and each is not models.Model:
            yield each.__name__
