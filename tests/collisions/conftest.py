"""Models that retry, and tables of the test's own."""

from contextlib import contextmanager

import pytest
from django.db import models, transaction

from django_sortable_ids.collisions import RetryOnCollision
from tests.own_tables import own_model, tables

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
    payment = own_model("Payment", Named, RetryOnCollision, id=colliding(primary_key=True))
    plain = own_model("Plain", Named, id=colliding(primary_key=True))
    with tables(payment, plain):
        yield payment, plain


@pytest.fixture
def small():
    """A model that retries, whose ticks have 16 keys and 16 tickets each."""
    made = own_model(
        "Small",
        Named,
        RetryOnCollision,
        id=sixteen_a_tick(primary_key=True),
        ticket=sixteen_a_tick(unique=True, null=True),
        needed=models.IntegerField(default=1),
    )
    with tables(made):
        yield made


@pytest.fixture
def counted():
    """A model that retries, with a counted key and, for each tenant, distinct tickets."""
    distinct = models.UniqueConstraint(fields=["tenant", "ticket"], name="one_ticket")
    made = own_model(
        "Counted",
        Named,
        RetryOnCollision,
        meta={"constraints": [distinct]},
        id=models.BigAutoField(primary_key=True),
        tenant=models.CharField(max_length=40, default="a"),
        ticket=sixteen_a_tick(null=True),
    )
    with tables(made):
        yield made
