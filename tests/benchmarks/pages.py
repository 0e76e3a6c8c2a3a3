"""Pages of a large table, and a search for an id, next to what Django does by itself.

The admin of the table answers each request: with ``SortableIDAdmin``, and with Django's own
``ModelAdmin``, in the same order and with the same columns. The two take turns, and their pages
have the same rows. The times are medians of the whole answer, without its template. Statistics are
up to date.

Run it as ``python -m tests.benchmarks.pages``.
"""

import argparse
from collections.abc import Callable
from statistics import median
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.test import RequestFactory

from django_sortable_ids.admin import SortableIDAdmin
from django_sortable_ids.admin.change_list import AFTER_VAR
from django_sortable_ids.db.counting import count
from django_sortable_ids.ids import public_id
from django_sortable_ids.pagination import keyset_page

from .creation_times import DAYS, Row, fill, settle
from .support import heading, in_turns, markdown, ratios, table_of

PAGE = 50
Request = Callable[[], Any]


class OurAdmin(SortableIDAdmin):
    list_display = ["id", "name"]
    list_per_page = PAGE
    ordering = ["id"]
    search_fields = ["name"]


class DjangosAdmin(admin.ModelAdmin):
    list_display = ["id", "name"]
    list_per_page = PAGE
    ordering = ["id"]
    search_fields = ["name", "id__pasted"]


OURS, DJANGOS = OurAdmin(Row, admin.site), DjangosAdmin(Row, admin.site)


def listed(model_admin: Any, **parameters: str) -> list[Any]:
    """The keys of the rows that the admin lists."""
    request = RequestFactory().get("/", parameters)
    request.user = User(is_staff=True, is_superuser=True)
    return [row.pk for row in model_admin.get_changelist_instance(request).result_list]


def compared(title: str, here: Request, there: Request, rounds: int) -> list[str]:
    """A line of the table: medians here and there, and their ratio."""
    assert here() == there(), title
    ours, djangos = (1000 * median(times) for times in in_turns([here, there], rounds))
    ratio = djangos / ours
    return [
        title,
        f"{ours:,.2f} ms",
        f"{djangos:,.1f} ms",
        f"{ratio:,.0f}" if ratio > 10 else f"{ratio:.1f}",
    ]


def pages(rows: QuerySet[Row], number: int) -> tuple[list[Request], list[str]]:
    """Requests for the page: by the id before it, and by its number; with the id's text."""
    before = rows[(number - 1) * PAGE - 1] if number > 1 else None
    text = "" if before is None else str(public_id(before))
    return [
        lambda: [row.pk for row in keyset_page(rows, PAGE, after=text).rows],
        lambda: [row.pk for row in Paginator(rows, PAGE).page(number)],
    ], [text]


def lines(last_page: int) -> list[list[str]]:
    rows = Row.objects.order_by("id")
    found = []
    for number, rounds in ((1, 5), (last_page, 3)):
        (ours, djangos), (text,) = pages(rows, number)
        found.append(compared(f"rows of page {number:,}", ours, djangos, rounds))
        here = {AFTER_VAR: text, "p": str(number)} if text else {}
        there = {"p": str(number)}
        found.append(
            compared(
                f"page {number:,} in the admin",
                lambda here=here: listed(OURS, **here),
                lambda there=there: listed(DJANGOS, **there),
                rounds,
            )
        )
    wanted = str(rows[last_page * PAGE // 2].pk)
    found.append(
        compared(
            "search for an id in the admin, `name` is searched, too",
            lambda: listed(OURS, q=wanted),
            lambda: listed(DJANGOS, q=wanted),
            3,
        )
    )
    return found


def count_line(rows: int) -> list[str]:
    every = Row.objects.all()
    ours = 1000 * median(*in_turns([lambda: count(every, 10_000)], 9))
    djangos = 1000 * median(*in_turns([every.count], 5))
    said = count(every, 10_000).text
    return [
        f"count of all rows: {said}, {rows:,}",
        f"{ours:,.2f} ms",
        f"{djangos:,.1f} ms",
        f"{djangos / ours:,.0f}",
    ]


def deep_ratio(last_page: int) -> str:
    """What the last page costs of what the first one costs, each as the admin's list."""
    rows = Row.objects.order_by("id")
    (_, _), (text,) = pages(rows, last_page)
    first, last = in_turns([lambda: listed(OURS), lambda: listed(OURS, **{AFTER_VAR: text})], 101)
    ratio = median(ratios(last, first))
    return f"In the admin, page {last_page:,} costs {ratio:.2f} times what page 1 costs.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    rows = parser.parse_args().rows
    last_page = rows // PAGE
    with table_of(Row):
        fill(rows)
        settle()
        table = markdown(
            ["50 rows per page", "here", "Django", "ratio"], [count_line(rows), *lines(last_page)]
        )
        print(heading(f"{rows:,} rows over {DAYS} days"))
        print(f"{table}\n{deep_ratio(last_page)}")


if __name__ == "__main__":
    main()
