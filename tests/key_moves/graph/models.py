"""Every kind of key, and of reference to one. ``mark`` identifies a row before and after a move."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import Index, Q
from django.db.models.functions import Upper

from django_sortable_ids.fields import (
    HexULIDField,
    SnowflakeAutoField,
    ULIDAutoField,
    ULIDField,
    UUIDv7AutoField,
    UUIDv7Field,
)


class User(AbstractUser):
    """The user model of the project, to which tables of other apps refer."""

    id = UUIDv7AutoField(primary_key=True)
    old_id = models.BigIntegerField(null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)


class Country(models.Model):
    """Its key stays."""

    code = models.CharField(max_length=2, primary_key=True)
    mark = models.IntegerField(unique=True)


class Customer(models.Model):
    """Refers to itself in two ways, and in a circle with ``Club``."""

    id = UUIDv7AutoField(primary_key=True)
    old_id = models.BigIntegerField(null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)
    name = models.CharField(max_length=30, unique=True)
    text = models.TextField()
    level = models.IntegerField()
    created_at = models.DateTimeField(db_index=True)
    invited_by = models.ForeignKey("self", models.SET_NULL, null=True)
    friends = models.ManyToManyField("self")
    home = models.ForeignKey("Club", models.SET_NULL, null=True)
    country = models.ForeignKey(Country, models.PROTECT, null=True)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)

    class Meta:
        indexes = (
            Index(Upper("name"), "level", name="graph_customer_upper"),
            Index(
                fields=["level"],
                condition=Q(invited_by__isnull=False),
                name="graph_customer_invited",
            ),
        )
        constraints = (
            models.CheckConstraint(condition=Q(level__gte=0), name="graph_customer_level"),
        )


class Club(models.Model):
    id = ULIDAutoField(primary_key=True)
    old_id = models.IntegerField(null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)
    founder = models.ForeignKey(Customer, models.CASCADE, null=True, related_name="founded")
    members = models.ManyToManyField(Customer, through="Membership", related_name="clubs")


class Membership(models.Model):
    mark = models.IntegerField(unique=True)
    club = models.ForeignKey(Club, models.CASCADE)
    customer = models.ForeignKey(Customer, models.CASCADE)

    class Meta:
        unique_together = (("club", "customer"),)


class Vip(Customer):
    """Its key is the link to the row of its parent."""

    rank = models.IntegerField()


class GoldVip(Vip):
    medals = models.IntegerField()


class Regular(Customer):
    class Meta:
        proxy = True


class Profile(models.Model):
    customer = models.OneToOneField(Customer, models.CASCADE, primary_key=True)
    mark = models.IntegerField(unique=True)


class Note(models.Model):
    """Refers to keys that are references themselves."""

    mark = models.IntegerField(unique=True)
    profile = models.ForeignKey(Profile, models.CASCADE, null=True)
    vip = models.ForeignKey(GoldVip, models.CASCADE, null=True)


class Badge(models.Model):
    mark = models.IntegerField(unique=True)
    holder = models.OneToOneField(Customer, models.CASCADE)


class Loan(models.Model):
    """Refers to a unique reference."""

    mark = models.IntegerField(unique=True)
    badge = models.ForeignKey(Badge, models.CASCADE, to_field="holder")


class Review(models.Model):
    """Refers to a column that stays."""

    mark = models.IntegerField(unique=True)
    customer = models.ForeignKey(Customer, models.CASCADE, to_field="name")


class Tag(models.Model):
    mark = models.IntegerField(unique=True)
    customers = models.ManyToManyField(Customer)


class Order(models.Model):
    """Its time is that of its customer."""

    id = SnowflakeAutoField(primary_key=True)
    old_id = models.IntegerField(null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)
    number = models.IntegerField()
    customer = models.ForeignKey(Customer, models.CASCADE)
    shown_to = models.ForeignKey(
        Customer, models.CASCADE, null=True, db_constraint=False, related_name="+"
    )

    class Meta:
        unique_together = (("customer", "number"),)
        indexes = (Index(fields=["-customer", "number"], name="graph_order_newest"),)
        constraints = (
            models.UniqueConstraint(
                fields=["customer"], condition=Q(number=0), name="graph_order_first"
            ),
        )


class Parcel(models.Model):
    """Its old key is a UUID of version 4."""

    id = UUIDv7Field(primary_key=True)
    old_id = models.UUIDField(null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)
    sent_at = models.DateTimeField()
    order = models.ForeignKey(Order, models.CASCADE, null=True)
    inside = models.ForeignKey("self", models.CASCADE, null=True)


class Event(models.Model):
    """Its old key is the text of a ULID, which has a time."""

    id = UUIDv7Field(primary_key=True)
    old_id = ULIDField(storage="varchar", max_length=26, null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)
    parcel = models.ForeignKey(Parcel, models.CASCADE, null=True)
    cause = models.ForeignKey("self", models.CASCADE, null=True)


class Scan(models.Model):
    """Its old key has all bits of the new one."""

    id = ULIDField(primary_key=True)
    old_id = HexULIDField(null=True, unique=True, editable=False)
    mark = models.IntegerField(unique=True)
    event = models.ForeignKey(Event, models.CASCADE, null=True)
    former = models.OneToOneField("self", models.CASCADE, null=True)


class Comment(models.Model):
    mark = models.IntegerField(unique=True)
    content_type = models.ForeignKey(ContentType, models.CASCADE)
    object_id = models.CharField(max_length=40)
    about = GenericForeignKey()
    author = models.ForeignKey(Customer, models.CASCADE, null=True, related_name="+")


class Ledger(models.Model):
    """A table that no migration of Django creates."""

    mark = models.IntegerField(unique=True)
    customer = models.ForeignKey(Customer, models.DO_NOTHING)

    class Meta:
        managed = False
        db_table = "graph_ledger"
