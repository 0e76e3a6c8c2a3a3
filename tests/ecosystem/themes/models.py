from django.db import models

from django_sortable_ids.fields import ULIDField


class Event(models.Model):
    id = ULIDField(primary_key=True, prefix="evt")
    name = models.CharField(max_length=20)
