"""Models that retry, and tables of the test's own."""

from contextlib import contextmanager

import pytest
from django.db import models, transaction
from django.test.utils import isolate_apps

from django_sortable_ids.collisions import RetryOnCollision
from tests.own_tables import tables

from .support import COLLIDING, Named, sixteen_a_tick


@contextmanager
def autocommit(using=None):
    yield


@pytest.fixture(params=[autocommit, transaction.atomic], ids=["autocommit", "atomic"])
def inside(request):
    """What a test does its work in."""
    return request.param


@pytest.fixture(params=COLLIDING.values(), ids=COLLIDING.keys())
def colliding(request):
    return request.param


@pytest.fixture
def keyed(colliding):
    """A model that retries, and one that doesn't; their keys are of a scheme that can collide."""
    with isolate_apps("tests.testapp"):

        class Payment(Named, RetryOnCollision):
            id = colliding(primary_key=True)

        class Plain(Named):
            id = colliding(primary_key=True)

    with tables(Payment, Plain):
        yield Payment, Plain


@pytest.fixture
def small():
    """A model that retries, whose ticks have 16 keys and 16 tickets each."""
    with isolate_apps("tests.testapp"):

        class Small(Named, RetryOnCollision):
            id = sixteen_a_tick(primary_key=True)
            ticket = sixteen_a_tick(unique=True, null=True)
            needed = models.IntegerField(default=1)

    with tables(Small):
        yield Small


@pytest.fixture
def counted():
    """A model that retries, with a counted key and, for each tenant, distinct tickets."""
    with isolate_apps("tests.testapp"):

        class Counted(Named, RetryOnCollision):
            id = models.BigAutoField(primary_key=True)
            tenant = models.CharField(max_length=40, default="a")
            ticket = sixteen_a_tick(null=True)

            class Meta(Named.Meta):
                abstract = False
                constraints = [
                    models.UniqueConstraint(fields=["tenant", "ticket"], name="one_ticket"),
                ]

    with tables(Counted):
        yield Counted
