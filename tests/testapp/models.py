"""Models of the tests: every field as a key, every field beside an integer key, and relations."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models

from django_sortable_ids import fields


class Named(models.Model):
    name = models.CharField(max_length=50, default="")

    class Meta:
        abstract = True
        app_label = "testapp"

    def __str__(self) -> str:
        return self.name


class UUIDv7Key(Named):
    id = fields.UUIDv7Field(primary_key=True)


class ULIDKey(Named):
    id = fields.ULIDField(primary_key=True)


class ReversedKUUIDKey(Named):
    id = fields.KUUIDField(primary_key=True, precision="ms", reverse=True, short=True)


class KSUIDKey(Named):
    id = fields.KSUIDField(primary_key=True)


class SnowflakeKey(Named):
    id = fields.SnowflakeField(primary_key=True)


class TSIDKey(Named):
    id = fields.TSIDField(primary_key=True)


class Time64MillisecondKey(Named):
    id = fields.Time64Field(primary_key=True, layout="3+6", workers=1000)


class SequenceKey(Named):
    id = fields.LexicalSequenceField(primary_key=True, charset="alnum_upper", width=4)


# Keys that are None until the row is inserted.


class UUIDv7AutoKey(Named):
    id = fields.UUIDv7AutoField(primary_key=True)


class ULIDAutoKey(Named):
    id = fields.ULIDAutoField(primary_key=True)


class SnowflakeAutoKey(Named):
    id = fields.SnowflakeAutoField(primary_key=True)


class Time64AutoKey(Named):
    id = fields.Time64AutoField(primary_key=True)


# Keys in a column other than the default one: tables that another package made.


class UUIDv7BinaryKey(Named):
    id = fields.UUIDv7Field(primary_key=True, storage="binary")


class CombV13Char36Key(Named):
    id = fields.CombV13UUIDField(primary_key=True, storage="char36")


class Order(Named):
    """A table with an integer key and creation times, whose ids are to be filled."""

    created_at = models.DateTimeField(null=True, db_index=True)
    uuid7 = fields.UUIDv7Field(null=True, unique=True)
    uuid6 = fields.UUIDv6Field(null=True, unique=True)
    comb13 = fields.CombV13UUIDField(null=True, unique=True)
    ulid = fields.ULIDField(null=True, unique=True, prefix="ord")
    hexulid = fields.HexULIDField(null=True, unique=True)
    kuuid = fields.KUUIDField(null=True, unique=True, prefix="order", separator=":")
    reversed_kuuid = fields.KUUIDField(null=True, unique=True, precision="ms", reverse=True)
    snowflake = fields.SnowflakeField(null=True, unique=True)
    time64 = fields.Time64Field(null=True, unique=True, encoding="base64url")
    number = fields.LexicalSequenceField(
        null=True, unique=True, charset="numeric", start="1000", step=7
    )


class OrderLine(Named):
    order = models.ForeignKey(Order, models.CASCADE, null=True, related_name="lines")


class Line(Named):
    """A row whose key is a pair, the second half of it an id."""

    pk = models.CompositePrimaryKey("tenant", "id")
    tenant = models.IntegerField()
    id = fields.ULIDField()


class Note(Named):
    """A row that points to a row of any model."""

    # This app has no migrations, so its tables come before those of the apps that have.
    content_type = models.ForeignKey(ContentType, models.CASCADE, db_constraint=False)
    object_id = models.CharField(max_length=40)
    subject = GenericForeignKey()


class MaskedKey(Named):
    id = fields.UUIDv7Field(primary_key=True, masked=True, prefix="msk", encoding="base32")


class MaskedPart(Named):
    whole = models.ForeignKey(MaskedKey, models.CASCADE, null=True, related_name="parts")
    code = fields.UUIDv7Field(unique=True, masked=True, editable=True)
    other = models.ForeignKey("self", models.CASCADE, null=True, to_field="code")


class EditableKey(Named):
    id = fields.ULIDField(primary_key=True, editable=True)


class EditablePart(Named):
    whole = models.ForeignKey(EditableKey, models.CASCADE, related_name="parts")


# What surrounds each of the keys above, with the names of the key's model in front of theirs.


def like(field: fields.SortableIDField, **changes: Any) -> fields.SortableIDField:
    """A new field with the arguments of ``field``, but for the changes."""
    _, _, args, kwargs = field.deconstruct()
    kwargs.pop("serialize", None)  # which Django sets for a key
    classes: Any = type(field).__mro__
    if not changes.get("primary_key", field.primary_key):
        classes = [each for each in classes if not issubclass(each, fields.SortableAutoField)]
    return classes[0](*args, **kwargs | changes)


def _define(key: type[models.Model], name: str, *bases: type, **attributes: Any) -> Any:
    full_name = f"{key.__name__}{name}"
    model = type(full_name, bases, {"__module__": __name__, **attributes})
    globals()[full_name] = model
    return model


class PublicManager(models.Manager[Any]):
    def get_by_natural_key(self, public: str) -> models.Model:
        return self.get(public=public)


class _Public(Named):
    objects = PublicManager()

    class Meta:
        abstract = True

    def natural_key(self) -> tuple[str]:
        return (str(self.public),)


def _surround(key: type[models.Model]) -> None:
    field = key._meta.get_field("id")
    optional = {"on_delete": models.CASCADE, "null": True, "blank": True}

    class Keyed(Named):
        """An abstract base that has the key."""

        id = like(field)

        class Meta:
            abstract = True

    _define(
        key,
        "Child",
        Keyed,
        parent=models.ForeignKey(key, **optional, related_name="children"),
        twin=models.OneToOneField(key, **optional, related_name="twin"),
        itself=models.ForeignKey("self", **optional),
        friends=models.ManyToManyField(key, related_name="friends_of", blank=True),
    )
    _define(key, "Special", key, extra=models.CharField(max_length=50, default=""))
    other = {"primary_key": False, "unique": True}
    to = models.ForeignKey("self", **optional, to_field="public", related_name="referring")
    _define(
        key,
        "Public",
        _Public,
        public=like(field, **other, prefix="pub", editable=True),
        optional=like(field, **other, null=True),
        to=to,
    )


KEYS: tuple[type[models.Model], ...] = (
    UUIDv7Key,
    ULIDKey,
    ReversedKUUIDKey,
    KSUIDKey,
    SnowflakeKey,
    TSIDKey,
    SequenceKey,
)
"""One key for each kind of value in each kind of column: UUIDs, texts as UUIDs, descending texts,
texts as bytes, integers, those that are shown as texts, and texts that are counted. What Django
does with an id depends on no more."""
STORED_KEYS = (*KEYS, UUIDv7BinaryKey, CombV13Char36Key)
"""And UUIDs as bytes and as text."""
AUTO_KEYS = (UUIDv7AutoKey, ULIDAutoKey, SnowflakeAutoKey, Time64AutoKey)
for _key in STORED_KEYS + AUTO_KEYS:
    _surround(_key)


class _User(AbstractBaseUser):
    """What a project's own user model begins with."""

    name = models.CharField(max_length=50, unique=True)
    objects: Any = BaseUserManager()
    USERNAME_FIELD = "name"

    class Meta:
        abstract = True


for _key in KEYS + AUTO_KEYS:
    _define(_key, "User", _User, id=like(_key._meta.get_field("id")))


def around(key: type[models.Model], name: str) -> Any:
    """One of the models around a key: Child, Special (a subclass), User, or Public, which has an
    integer key, a unique ``public``, an ``optional`` that may be NULL, and ``to`` another one's
    ``public``.
    """
    return globals()[f"{key.__name__}{name}"]
