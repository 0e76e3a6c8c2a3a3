"""What the fields of UUIDs have in common: a column may hold UUIDs of other versions."""

from dataclasses import replace
from typing import Any

from ..schemes import TimeScheme
from .base import SortableIDField


class SortableUUIDField(SortableIDField):
    """A field whose values are ``uuid.UUID``: use one of its subclasses.

    ``accept_other_versions=True`` is for a column that already holds other UUIDs, such as the
    random ones of ``uuid.uuid4``: they are read, looked up, shown and saved like the field's own.
    They carry no time, so ``created_at`` is None for them and no range of creation times finds
    them, and they sort anywhere among the others. New ids are of the field's version.
    """

    scheme: TimeScheme

    def __init__(
        self,
        verbose_name: Any = None,
        name: str | None = None,
        *,
        accept_other_versions: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(verbose_name, name, **kwargs)
        self.accept_other_versions = accept_other_versions
        if not accept_other_versions:
            return
        if self.public_text.encoding == "sqlserver":
            raise ValueError(
                "accept_other_versions=True: encoding='sqlserver' can't show other versions, "
                "because it takes version 1 for the field's own"
            )
        if self.public_text.masked:
            raise ValueError(
                "accept_other_versions=True, masked=True: a stored UUIDv4 can't be told from a "
                "masked UUIDv7"
            )
        self.scheme = self.scheme.accepting_other_versions()
        self.public_text = replace(self.public_text, scheme=self.scheme)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        if self.accept_other_versions:
            kwargs["accept_other_versions"] = True
        return name, path, args, kwargs
