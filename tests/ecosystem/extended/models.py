"""Models with base classes and managers of other packages."""

from django.db import models
from simple_history.models import HistoricalRecords
from taggit.managers import TaggableManager
from taggit.models import CommonGenericTaggedItemBase, GenericUUIDTaggedItemBase, TaggedItemBase
from tree_queries.models import TreeNode

from django_sortable_ids import fields


class Author(models.Model):
    id = fields.UUIDv7Field(primary_key=True, prefix="aut", masked=True)
    name = models.CharField(max_length=20)
    history = HistoricalRecords()


class Book(models.Model):
    """A key with a prefix, an id with another one that old rows lack, and relations."""

    id = fields.ULIDAutoField(primary_key=True, prefix="book")
    public_id = fields.SnowflakeField(prefix="isbn", unique=True, null=True)
    author = models.ForeignKey(Author, models.CASCADE, null=True)
    readers = models.ManyToManyField(Author, related_name="read")
    title = models.CharField(max_length=20)
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords(m2m_fields=[readers])


class TaggedBook(TaggedItemBase):
    """A through model with a foreign key, which works with keys of every type."""

    content_object = models.ForeignKey("Shelved", models.CASCADE)


class Shelved(models.Model):
    id = fields.ULIDField(primary_key=True, prefix="shl")
    tags = TaggableManager(through=TaggedBook)


class TaggedByUUID(GenericUUIDTaggedItemBase, TaggedItemBase):
    """A through model of taggit for a ``UUIDField``."""


class Found(models.Model):
    id = fields.UUIDv7Field(primary_key=True, prefix="fnd", masked=True)
    tags = TaggableManager(through=TaggedByUUID)


class TaggedByNumber(CommonGenericTaggedItemBase, TaggedItemBase):
    object_id = models.BigIntegerField(db_index=True)


class Counted(models.Model):
    id = fields.SnowflakeField(primary_key=True)
    tags = TaggableManager(through=TaggedByNumber)


class Part(TreeNode):
    id = fields.UUIDv7AutoField(primary_key=True, prefix="prt", masked=True)
    name = models.CharField(max_length=20)


class Region(TreeNode):
    id = fields.ULIDField(primary_key=True, prefix="reg", storage="uuid")
    name = models.CharField(max_length=20)


class Task(TreeNode):
    id = fields.SnowflakeField(primary_key=True, prefix="tsk")
    name = models.CharField(max_length=20)


class Topic(TreeNode):
    """A key that every database stores as bytes."""

    id = fields.KSUIDField(primary_key=True)
    name = models.CharField(max_length=20)
