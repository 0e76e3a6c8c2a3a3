"""What the database is asked for: a range on the column of the id, without a function around it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.store.admin import TIMED
from tests.store.models import PRODUCTS, Basket, Order

from .support import changelist, choices, each_timed_scheme, title_of

pytestmark = pytest.mark.django_db


def conditions(model, query):
    """What comes after WHERE in each of the queries for a list, quotes left out."""
    with CaptureQueriesContext(connection) as captured:
        changelist(model, query)
    statements = [re.sub(r'["`]', "", query["sql"]) for query in captured]
    found = [sql.split(" WHERE ", 1)[1] for sql in statements if " WHERE " in sql]
    assert found
    return found


def assert_range(where, column, operators):
    assert re.findall(rf"{re.escape(column)} (\S+) ", where) == operators, where
    assert not re.search(rf"\w\([^()]*{re.escape(column)}", where), where


@each_timed_scheme
def test_every_choice_is_a_range(scheme):
    operators = ["<=", ">="] if scheme == "reversed_kuuid" else [">=", "<="]
    links = choices(changelist(Order), title_of(scheme))
    for title in ("Today", "Past 7 days", "This month", "This year"):
        for where in conditions(Order, links[title]["query_string"]):
            assert_range(where, f"store_order.{scheme}", operators)
    for title, operator in (("No date", "IS NULL"), ("Has date", "IS NOT NULL")):
        for where in conditions(Order, links[title]["query_string"]):
            assert f"store_order.{scheme} {operator}" in where


@each_timed_scheme
def test_a_chosen_range_is_a_range(scheme):
    table = PRODUCTS[scheme]._meta.db_table
    descending = scheme == "reversed_kuuid"
    for query, operators in (
        ("?id__created_at__date__gte=2026-01-01", ["<=" if descending else ">="]),
        ("?id__created_at__date__lte=2026-01-01", [">=" if descending else "<="]),
        (
            "?id__created_at__date__gte=2026-01-01&id__created_at__date__lte=2026-01-31",
            ["<=", ">="] if descending else [">=", "<="],
        ),
    ):
        for where in conditions(PRODUCTS[scheme], query):
            assert_range(where, f"{table}.id", operators)


@each_timed_scheme
def test_through_a_relation_it_is_one_on_the_other_tables_key(scheme):
    table = PRODUCTS[scheme]._meta.db_table
    path = scheme if scheme in TIMED[::2] else f"{scheme}__id"
    (where, *_) = conditions(Basket, f"?{path}__created_at__date__gte=2026-01-01")
    own, other = f"store_basket.{scheme}_id", f"{table}.id"
    assert_range(where, own if own in where else other, ["<=" if "reversed" in scheme else ">="])
