"""``{% load sortable_ids %}``: public text and creation time of an id in templates."""

from datetime import datetime
from typing import Any

from django import template
from django.db import models

from .. import ids
from ..schemes import OutOfRange

register = template.Library()


@register.filter
def public_id(instance: Any, field: str | None = None) -> str:
    """``{{ order|public_id }}``: the public text, as in URLs and REST; empty without an id.

    ``{{ order|public_id:"number" }}`` selects one of several ids.
    """
    if not isinstance(instance, models.Model):
        return ""
    return ids.public_id(instance, field) or ""


@register.filter(expects_localtime=True)
def created_at(instance: Any, field: str | None = None) -> datetime | str:
    """``{{ order|created_at|date }}``: when the id was generated; empty if it carries no time."""
    if not isinstance(instance, models.Model):
        return ""
    try:
        return ids.created_at(instance, field) or ""
    except OutOfRange:
        return ""
