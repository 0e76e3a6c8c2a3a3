"""How a database stores an id: the column's type, and conversion from and to the id's number.

Stored values sort like the numbers, whatever the collation of the database; those of a
``storage="varchar"`` sort by that collation.
"""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import NotSupportedError, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Col

from ..schemes import ID, Scheme, TimeScheme
from ..schemes.layout import UUIDTemplate
from ..schemes.notation import uuid_of, uuids_of
from ..schemes.support import ByArguments
from ..schemes.text_forms import TextForm, UUIDText

# Text that is compared byte by byte. On PostgreSQL, Django adds a second index for LIKE to types
# whose names begin with "varchar" or "text": hence "character varying".
_TEXT_TYPES = {
    "postgresql": "character varying({length})",
    "sqlite": "text",
    "mysql": "char({length})",
}
_TEXT_COLLATIONS = {"postgresql": "C", "mysql": "ascii_bin"}

# SQLite gives any type name that it doesn't know, such as binary(16), NUMERIC affinity.
_BINARY_TYPES = {"postgresql": "bytea", "sqlite": "blob", "mysql": "binary({length})"}


# What a field is to Django and to other packages, by the type of its values.
INTERNAL_TYPES = {uuid.UUID: "UUIDField", int: "BigIntegerField", str: "CharField"}


class OnlyConverters(list[Any]):
    """A field's converters, without those that a backend has for the field's internal type.

    Django adds the two lists. A backend expects the column of its own ``UUIDField``, and converts
    it more slowly.
    """

    def __radd__(self, of_the_backend: list[Any]) -> "OnlyConverters":
        return self

    def __add__(self, of_the_relation: list[Any]) -> "OnlyConverters":
        return OnlyConverters([*self, *of_the_relation])


def _column_type(types: Mapping[str, str], length: int, connection: BaseDatabaseWrapper) -> str:
    if connection.vendor not in types:
        raise NotSupportedError(
            f"the field's column type is known for SQLite, PostgreSQL, MariaDB and MySQL, not for "
            f'{connection.display_name}; set another storage: "varchar", or "uuid" for an id of '
            f"128 bits"
        )
    return types[connection.vendor].format(length=length)


FIND = "List such rows by"


class Storage(ByArguments, ABC):
    driver_types: tuple[type, ...] = ()
    """Types of a driver's values that must be converted to the Python value."""
    returned: type = str
    """The type that the driver returns for values that this package stored."""

    @abstractmethod
    def db_type(self, connection: BaseDatabaseWrapper) -> str: ...

    def collation(self, connection: BaseDatabaseWrapper) -> str | None:
        """The collation that the column needs; None for the database's default."""
        return None

    @abstractmethod
    def to_db(self, number: int, connection: BaseDatabaseWrapper) -> Any:
        """The driver's value of a number."""

    def all_to_db(self, numbers: Sequence[int], connection: BaseDatabaseWrapper) -> list[Any]:
        return [self.to_db(number, connection) for number in numbers]

    @abstractmethod
    def from_db(self, stored: Any) -> int:
        """The number of a value that the driver returned."""

    def reader(self, scheme: Scheme, field: object) -> Callable[..., ID | None]:
        """A function from a value of the field that the driver returned to the Python value.

        It passes on None, and what is already converted.
        """
        from_trusted, from_db = scheme.from_trusted, self.from_db
        converted = () if scheme.value_type in self.driver_types else scheme.value_type

        # Django gives these three; a variable number of them takes longer.
        def read(value: Any, expression: object = None, connection: object = None) -> ID | None:
            if value is None or isinstance(value, converted):
                return value
            try:
                return from_trusted(from_db(value))
            except (TypeError, ValueError) as error:  # SQLite stores any value in any column.
                mismatch = f"expected {scheme.title}, found {type(value).__name__}"
                reason = mismatch if isinstance(error, TypeError) else error
                advice = f"{FIND} `manage.py backfill_ids {field} --verify`."
                if not isinstance(expression, Col | None):
                    advice = f"If {expression} is no id, give it an output_field. {advice}"
                raise ValueError(f"{field}: {reason}. {advice}") from None

        return read

    def literal(self, number: int, connection: BaseDatabaseWrapper) -> str:
        """The number as an SQL literal of the column's type, where SQL allows no parameter."""
        # The characters of an id are safe in URLs: no quotes, no per cent signs, no backslashes.
        return f"'{self.to_db(number, connection)}'"


class UUIDStorage(Storage):
    """Like Django's ``UUIDField``: ``uuid`` on PostgreSQL, MariaDB 10.7+, else 32 characters."""

    def __init__(self, driver_types: tuple[type, ...], returned: type) -> None:
        super().__init__(driver_types, returned)
        self.driver_types = driver_types
        self.returned = returned

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return models.UUIDField().db_type(connection) or ""

    def to_db(self, number: int, connection: BaseDatabaseWrapper) -> uuid.UUID | str:
        if connection.features.has_native_uuid_field:
            return uuid_of(number)
        return f"{number:032x}"

    def all_to_db(self, numbers: Sequence[int], connection: BaseDatabaseWrapper) -> list[Any]:
        native = connection.features.has_native_uuid_field
        return uuids_of(numbers) if native else [number.to_bytes(16).hex() for number in numbers]

    def reader(self, scheme: Scheme, field: object) -> Callable[..., ID | None]:
        from_trusted, read_other = scheme.from_trusted, super().reader(scheme, field)
        is_text = scheme.value_type is str

        def read(value: Any, expression: object = None, connection: object = None) -> ID | None:
            if type(value) is str and len(value) == 32:
                return from_trusted(int(value, 16))
            if is_text and type(value) is uuid.UUID:
                return from_trusted(value.int)
            return read_other(value, expression)

        return read

    def from_db(self, stored: uuid.UUID | str) -> int:
        if isinstance(stored, uuid.UUID):
            return stored.int
        if len(stored) not in (32, 36):
            raise ValueError(f"expected a UUID, found {len(stored)} characters")
        return int(stored.replace("-", ""), 16)


class BinaryStorage(Storage):
    """Big-endian bytes."""

    driver_types = (bytes, bytearray, memoryview)
    returned = bytes

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return _column_type(_BINARY_TYPES, self.length, connection)

    def to_db(self, number: int, connection: BaseDatabaseWrapper) -> bytes:
        return number.to_bytes(self.length, "big")

    def reader(self, scheme: Scheme, field: object) -> Callable[..., ID | None]:
        from_trusted, read_other = scheme.from_trusted, super().reader(scheme, field)
        length, from_bytes = self.length, int.from_bytes

        def read(value: Any, expression: object = None, connection: object = None) -> ID | None:
            if type(value) is bytes and len(value) == length:
                return from_trusted(from_bytes(value, "big"))
            return read_other(value, expression)

        return read

    def from_db(self, stored: bytes | memoryview) -> int:
        if len(stored) != self.length:
            raise ValueError(f"expected {self.length} bytes, found {len(stored)}")
        return int.from_bytes(stored, "big")

    def literal(self, number: int, connection: BaseDatabaseWrapper) -> str:
        digits = number.to_bytes(self.length, "big").hex()
        return f"'\\x{digits}'::bytea" if connection.vendor == "postgresql" else f"x'{digits}'"


class TextStorage(Storage):
    def __init__(self, form: TextForm, *options: Any) -> None:
        super().__init__(form, *options)
        self.form = form

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return _column_type(_TEXT_TYPES, self.form.length, connection)

    def collation(self, connection: BaseDatabaseWrapper) -> str | None:
        return _TEXT_COLLATIONS.get(connection.vendor)

    def to_db(self, number: int, connection: BaseDatabaseWrapper) -> str:
        return self.form.format(number)

    def all_to_db(self, numbers: Sequence[int], connection: BaseDatabaseWrapper) -> list[Any]:
        return self.form.format_all(numbers)

    def from_db(self, stored: str) -> int:
        return self.form.parse(stored)


class CharFieldStorage(TextStorage):
    """Like Django's ``CharField``: ``varchar``, with the collation of the database."""

    def __init__(self, form: TextForm, max_length: int) -> None:
        super().__init__(form, max_length)
        self.max_length = max_length

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return models.CharField(max_length=self.max_length).db_type(connection) or ""

    def collation(self, connection: BaseDatabaseWrapper) -> None:
        return None


class IntegerStorage(Storage):
    returned = int

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return models.BigIntegerField().db_type(connection) or ""

    def to_db(self, number: int, connection: BaseDatabaseWrapper) -> int:
        return number

    def from_db(self, stored: int) -> int:
        return stored

    def literal(self, number: int, connection: BaseDatabaseWrapper) -> str:
        return str(number)


def storage_names(scheme: Scheme) -> tuple[str, ...]:
    if scheme.value_type is int:
        return ("integer",)
    if scheme.value_type is uuid.UUID:
        return ("uuid", "binary", "char32", "char36", "varchar32", "varchar36")
    suffixes = scheme.layout.suffixes if isinstance(scheme, TimeScheme) else 0
    if suffixes and not suffixes & (suffixes - 1):
        # Otherwise no database can separate the time from the bytes.
        packed = ("uuid", "binary") if scheme.bits == 128 else ("binary",)
        return (*packed, "char", "varchar")
    return ("char", "varchar")


def storage_for(
    scheme: Scheme, name: str | None, vendor: str, max_length: int | None = None
) -> Storage:
    """The storage with that name; for None, the scheme's default.

    ``max_length`` is for a ``varchar`` that is wider than an id.
    """
    name = name or default_storage(scheme, vendor)
    if name == "integer":
        return IntegerStorage()
    if name == "uuid":
        driver_types = () if scheme.value_type is uuid.UUID else (uuid.UUID, str)
        return UUIDStorage(driver_types, uuid.UUID if vendor == "postgresql" else str)
    if name == "binary":
        return BinaryStorage(scheme.byte_length)
    form = UUIDText(hyphens=False) if name.endswith("32") else scheme.canonical
    if name.startswith("varchar"):
        return CharFieldStorage(form, max_length or form.length)
    return TextStorage(form)


def default_storage(scheme: Scheme, vendor: str) -> str:
    """The most compact storage that keeps the order on that vendor."""
    if scheme.value_type is int:
        return "integer"
    if scheme.stored_as_text or not isinstance(scheme, TimeScheme):
        return "char"
    if scheme.value_type is uuid.UUID:
        return "binary" if vendor == "mysql" and not mariadb_sorts(scheme) else "uuid"
    return "uuid" if vendor == "postgresql" and scheme.bits == 128 else "binary"


def mariadb_sorts(scheme: Scheme) -> bool:
    """Whether MariaDB's ``uuid`` accepts the scheme's values and sorts them correctly.

    It reorders versions below 6, and rejects versions above 7 whose byte 8 is 80 (MDEV-29959).
    """
    template = scheme.layout.template if isinstance(scheme, TimeScheme) else None
    return isinstance(template, UUIDTemplate) and template.version in (6, 7)
