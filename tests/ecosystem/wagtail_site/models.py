"""A user with a key of ours, and a page with a relation to it."""

from django.contrib.auth.models import AbstractBaseUser, PermissionsMixin, UserManager
from django.db import models
from wagtail.models import Page

from django_sortable_ids.fields import UUIDv7AutoField


class User(AbstractBaseUser, PermissionsMixin):
    id = UUIDv7AutoField(primary_key=True)
    username = models.CharField(max_length=30, unique=True)
    email = models.EmailField()
    first_name = models.CharField(max_length=30)
    last_name = models.CharField(max_length=30)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)

    objects = UserManager()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS = ["email"]


class Article(Page):
    author = models.ForeignKey(User, models.PROTECT)

    content_panels = [*Page.content_panels, "author"]
