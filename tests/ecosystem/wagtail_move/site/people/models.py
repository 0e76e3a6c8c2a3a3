"""The users, in an app of their own: wagtail's migrations depend on them."""

from django.contrib.auth.models import AbstractUser
from django.db import models

from django_sortable_ids.fields import UUIDv7AutoField  # noqa: F401


class User(AbstractUser):
    id = models.BigAutoField(primary_key=True)
