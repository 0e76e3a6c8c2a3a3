"""Rows with every kind of id that a process makes."""

from django.db import models

from django_sortable_ids.fields import LexicalSequenceField, SnowflakeField, UUIDv7Field


class Entry(models.Model):
    id = UUIDv7Field(primary_key=True)
    snowflake = SnowflakeField(unique=True)

    class Meta:
        abstract = True

    def __str__(self):
        return f"{self.id}"


class Order(Entry):
    """Numbers of blocks, which each process reserves beside its transactions."""

    number = LexicalSequenceField(unique=True, charset="numeric", width=8, block=10)


class Receipt(Entry):
    """Numbers without gaps, counted in the transaction that inserts."""

    number = LexicalSequenceField(unique=True, charset="numeric", width=8)
