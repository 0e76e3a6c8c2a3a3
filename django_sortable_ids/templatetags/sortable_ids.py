"""``{% load sortable_ids %}``: public text, creation time and picture of an id; a histogram."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import template
from django.db import models

from .. import ids
from ..fields.of_model import id_of
from ..functions import Bar
from ..histograms.histogram import HEIGHT, WIDTH, drawn
from ..inspecting.parts import anatomy, picture
from ..schemes import NotTimeOrdered, OutOfRange

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
    except (OutOfRange, NotTimeOrdered):
        return ""


@register.inclusion_tag("django_sortable_ids/histogram.html")
def sortable_id_histogram(bars: Iterable[Bar], title: str = "") -> dict[str, Any]:
    """``{% sortable_id_histogram bars %}``: the bars of ``histogram()``, as a picture and a table.

    ``title="Orders by day"`` is a text above it. The picture is SVG without script or style; its
    colour is that of links, and ``--sortable-ids-bar`` in CSS is another one.
    """
    bars = list(bars)
    return {
        "bars": drawn(bars),
        "title": title,
        "width": str(len(bars) * WIDTH),
        "height": str(HEIGHT),
        "bar_width": str(WIDTH - 1),
    }


@register.inclusion_tag("django_sortable_ids/id_picture_with_style.html")
def sortable_id_picture(instance: Any, field: str | None = None) -> dict[str, Any]:
    """``{% sortable_id_picture order %}``: the bits of the id as a picture, coloured by part.

    ``{% sortable_id_picture order "number" %}`` selects one of several ids. The picture is SVG
    without script. It shows the value itself, also the time in an id whose public text is masked.
    Nothing is drawn without an id, or for one without a time.
    """
    if not isinstance(instance, models.Model):
        return {}
    id_field, value = id_of(instance, field)
    parts = None if value is None else anatomy(id_field.scheme, value)
    return {"picture": picture(parts)} if parts and parts.text else {}
