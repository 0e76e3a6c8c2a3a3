"""Models of whose base classes and managers other packages are."""

from django.db import models
from simple_history.models import HistoricalRecords

from django_sortable_ids.fields import SnowflakeField, ULIDAutoField, UUIDv7Field


class Author(models.Model):
    id = UUIDv7Field(primary_key=True, prefix="aut", masked=True)
    name = models.CharField(max_length=20)
    history = HistoricalRecords()


class Book(models.Model):
    """A key with a prefix, an id with another one that old rows lack, and relations."""

    id = ULIDAutoField(primary_key=True, prefix="book")
    public_id = SnowflakeField(prefix="isbn", unique=True, null=True)
    author = models.ForeignKey(Author, models.CASCADE, null=True)
    readers = models.ManyToManyField(Author, related_name="read")
    title = models.CharField(max_length=20)
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords(m2m_fields=[readers])
