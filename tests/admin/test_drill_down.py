"""The bars above a list: which rows they count, where they lead to, and what a wrong URL gets."""

import random
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.sites import all_sites
from django.contrib.admin.views.main import ChangeList
from django.utils import timezone

from django_sortable_ids.admin import CreatedAtFilter, SortableIDAdmin
from django_sortable_ids.admin.drill_down import _bars, path_to
from django_sortable_ids.admin.model_admin import check_admins
from django_sortable_ids.db.counting import Count
from tests.combinations import in_one_case
from tests.lookups.support import utc
from tests.store.models import PRODUCTS, Basket, Order, Refund, SequenceProduct, ULIDProduct

from .support import (
    changelist,
    choices,
    each_timed_kind,
    list_url,
    logged_in,
    made_at,
    names,
    page_of,
    staff,
)

pytestmark = pytest.mark.django_db

MALFORMED = [
    *("0", "0000", "10000", "2013-13", "2013-00", "2013-02-30", "2013-07-04-24"),
    *("x", "2013-07-04-13-60", "2013-", "-2013", "2013-7", "2013-07-04-13-05-00", "2013-07-04T13"),
    *("\uff12\uff10\uff11\uff13", "\x00"),
    *("2013-07b", "2026-07-04-01b", "2013 ", "2013\n", "2013-07' OR 1=1", "9" * 5_000, "<script>"),
]


def create(model, *moments, column="id", **values):
    return [
        model.objects.create(name=at.isoformat(), **{column: made_at(model, at, column)}, **values)
        for at in moments
    ]


def bars(model, query="", **arguments):
    """The counts of the bars that are no zero, by their label."""
    level = changelist(model, query, **arguments).drill_down
    return {} if level is None else {bar.label: bar.count for bar in level.bars if bar.url}


def path(model, query="", **arguments):
    return [step.title for step in changelist(model, query, **arguments).drill_down.path]


def links(found):
    return {bar.label: bar.url for bar in found.drill_down.bars if bar.url}


YEARS = [utc(2024, 5, 5, 12), utc(2026, 7, 4, 12), utc(2026, 7, 4, 12, 30), utc(2026, 9, 1, 12)]


@each_timed_kind
def test_each_level_leads_to_the_rows_of_the_next(scheme):
    model = PRODUCTS[scheme]
    create(model, *YEARS)
    found = changelist(model)
    assert bars(model) == {"2024": "1", "2026": "3"}
    assert [bar.label for bar in found.drill_down.bars] == ["2024", "2025", "2026"]
    steps = []
    while links(found):
        step, query = list(links(found).items())[0 if steps else -1]
        steps.append(step)
        found = changelist(model, query)
    assert steps == ["2026", "Jul", ":00"]
    assert names(found) == [YEARS[1].isoformat()]


def test_levels_with_one_place_are_skipped():
    """There is nothing to choose."""
    create(ULIDProduct, *YEARS[1:3])
    assert path(ULIDProduct) == ["All dates", "2026", "July", "July 4", "8 a.m."]
    assert bars(ULIDProduct) == {":00": "1", ":30": "1"}


def test_without_rows_nothing_is_drawn():
    assert changelist(ULIDProduct).drill_down is None
    create(ULIDProduct, *YEARS)
    empty = changelist(ULIDProduct, "?id__created_at__within=2025")
    assert (empty.drill_down.note, names(empty)) == ("No rows.", [])
    assert [step.url for step in empty.drill_down.path] == ["?", ""]


def test_a_place_filters_as_the_clock_does():
    """In New York, the hour from one to two repeats on the first of November 2026."""
    moments = [utc(2026, 11, 1, 3, 59), *(utc(2026, 11, 1, hour, 59) for hour in (4, 5, 6, 7))]
    create(ULIDProduct, *moments, utc(2026, 11, 2, 4, 59), utc(2026, 11, 2, 5))
    assert bars(ULIDProduct) == {"Oct": "1", "Nov": "6"}
    day = changelist(ULIDProduct, "?id__created_at__within=2026-11-01")
    assert len(day.drill_down.bars) == 25
    assert {label: url.rpartition("=")[2] for label, url in links(day).items()} == {
        "12 a.m.": "2026-11-01-00",
        "1 a.m.": "2026-11-01-01",
        "1 a.m. EST": "2026-11-01-01b",
        "2 a.m.": "2026-11-01-02",
        "11 p.m.": "2026-11-01-23",
    }
    for place, moment in (("01", moments[2]), ("01b", moments[3]), ("01b-59", moments[3])):
        found = changelist(ULIDProduct, f"?id__created_at__within=2026-11-01-{place}")
        assert names(found) == [moment.isoformat()]


@pytest.mark.parametrize("seed", range(2))
def test_the_bars_of_all_levels_are_counted_right(seed):
    """The labels and counts of each level, compared with the rows one by one."""
    chance = random.Random(seed)
    zone = ["Australia/Lord_Howe", "Asia/Beirut"][seed]
    start = [utc(2026, 4, 4), utc(2026, 3, 28)][seed]
    with timezone.override(zone):
        moments = [start + timedelta(minutes=chance.randrange(2_880)) for _ in range(60)]
        create(ULIDProduct, *moments)
        local = [timezone.localtime(at) for at in moments]
        waiting = [("", len(local))]
        levels = 0
        while waiting:
            query, expected = waiting.pop()
            found = changelist(ULIDProduct, query)
            assert found.result_count == expected
            level = [(bar.url, int(bar.count)) for bar in found.drill_down.bars if bar.url]
            assert not level or sum(count for _, count in level) == expected
            waiting += level
            levels += 1
        assert levels > 60


def test_years_are_few_whatever_one_wrong_id_says():
    create(ULIDProduct, utc(1971, 1, 1), *YEARS, utc(9000, 1, 1), utc(9999, 12, 31))
    assert bars(ULIDProduct) == {"1970": "1", "2024": "1", "2026": "3", "8999": "1", "9999": "1"}
    assert len(changelist(ULIDProduct).drill_down.bars) == 5
    assert names(changelist(ULIDProduct, "?id__created_at__within=9999-12")) == [
        utc(9999, 12, 31).isoformat()
    ]


def test_at_most_sixty_years_are_drawn():
    """With those between them that have no rows, if they are no more than that."""
    create(ULIDProduct, utc(1971, 6, 1), utc(2030, 6, 1))
    assert len(changelist(ULIDProduct).drill_down.bars) == 60
    create(ULIDProduct, utc(2031, 6, 1))
    assert len(changelist(ULIDProduct).drill_down.bars) == 3
    create(ULIDProduct, *(utc(year, 6, 1) for year in range(2032, 2152, 2)))
    assert len(changelist(ULIDProduct).drill_down.bars) == 60


def test_through_a_relation(browser):
    for at in YEARS:
        (order,) = create(Order, at, column="snowflake")
        Refund.objects.create(name=order.name, ulid=order)
    Refund.objects.create(name="none")
    assert bars(Refund) == {"2024": "1", "2026": "3"}
    url = links(changelist(Refund))["2026"]
    assert url == "?ulid__snowflake__created_at__within=2026"
    assert names(changelist(Refund, url))
    assert browser.get(list_url(Refund) + url).status_code == 200


# With the rest of the list


def test_no_bar_counts_rows_that_the_user_may_not_see():
    create(Order, YEARS[0], column="kuuid", tenant="a")
    create(Order, *YEARS[1:], column="kuuid", tenant="b")
    for tenant, expected in (("a", {}), ("b", {"Jul": "2", "Sep": "1"}), ("c", {})):
        user = staff("view_order", name=tenant)
        assert bars(Order, user=user) == expected
        client = logged_in(user)
        page = client.get(list_url(Order)).content.decode()
        assert ("2024" in page) == (tenant == "a")
        within = list_url(Order, kuuid__created_at__within="2026-07")
        assert client.get(within).content.decode().count('class="sortable-ids-bars ') == (
            tenant == "b"
        )


def test_search_filters_and_bars_hold_together(browser):
    create(Basket, *YEARS)
    Basket.objects.filter(name=YEARS[1].isoformat()).update(name="apple")
    Basket.objects.filter(name=YEARS[3].isoformat()).update(name="apple pie")
    found = changelist(Basket, "?q=apple&o=1&name__startswith=apple")
    assert [*links(found)] == ["Jul", "Sep"]
    query = parse_qs(urlsplit(links(found)["Sep"]).query)
    assert query == {
        "q": ["apple"],
        "o": ["1"],
        "name__startswith": ["apple"],
        "id__created_at__within": ["2026-09"],
    }
    narrowed = changelist(Basket, links(found)["Sep"])
    assert names(narrowed) == ["apple pie"]
    assert narrowed.drill_down.path[0].url == "?name__startswith=apple&o=1&q=apple"


def test_the_filter_by_creation_time_narrows_the_bars_and_a_choice_of_it_leaves_the_place():
    create(ULIDProduct, *YEARS)
    query = "?id__created_at__date__gte=2026-01-01"
    assert bars(ULIDProduct, query) == {"Jul": "2", "Sep": "1"}
    both = changelist(ULIDProduct, f"{query}&id__created_at__within=2026-07")
    assert len(names(both)) == 2
    (spec,) = both.filter_specs
    assert spec.days.chosen() == {spec.days.first_name: [date(2026, 1, 1)]}
    assert all("within" not in choice["query_string"] for choice in spec.choices(both))
    assert [name for name, _ in spec.other_parameters] == []
    this_year = choices(both, spec.title)["This year"]["query_string"]
    for before, expected in (("?", []), (f"{this_year}&", ["This year"])):
        found = changelist(ULIDProduct, f"{before}id__created_at__within=2026")
        offered = choices(found, spec.title).items()
        assert [title for title, each in offered if each["selected"]] == expected


def test_actions_are_limited_to_the_place(browser):
    create(ULIDProduct, *YEARS)
    keys = [str(pk) for pk in ULIDProduct.objects.values_list("pk", flat=True)]
    answer = browser.post(
        list_url(ULIDProduct, id__created_at__within="2026-07"),
        {
            "action": "delete_selected",
            "_selected_action": keys,
            "select_across": "1",
            "post": "yes",
        },
    )
    assert answer.status_code == 302
    assert sorted(ULIDProduct.objects.values_list("name", flat=True)) == [
        YEARS[0].isoformat(),
        YEARS[3].isoformat(),
    ]


@in_one_case("text", MALFORMED)
def test_a_wrong_place_leads_back_to_the_list(browser, text):
    create(ULIDProduct, YEARS[0])
    with pytest.raises(IncorrectLookupParameters):
        changelist(ULIDProduct, "?" + urlencoded(text))
    answer = browser.get(list_url(ULIDProduct, id__created_at__within=text))
    assert (answer.status_code, answer.url) == (302, f"{list_url(ULIDProduct)}?e=1")


def urlencoded(text):
    return urlsplit(list_url(ULIDProduct, id__created_at__within=text)).query


def test_a_place_without_a_hierarchy_is_no_lookup(browser):
    answer = browser.get(list_url(SequenceProduct, id__created_at__within="2026"))
    assert (answer.status_code, answer.url) == (302, f"{list_url(SequenceProduct)}?e=1")


# The page


def test_the_page_has_links_and_texts_without_script_or_style(browser):
    create(ULIDProduct, *YEARS)
    page = page_of(browser, list_url(ULIDProduct))
    nav = page.root.find("nav", class_="sortable-ids-drill-down")
    assert nav["aria-label"] == "Creation time"
    assert [link["aria-label"] for link in nav.find_all("a")] == ["2024: 1", "2026: 3"]
    assert [step.text for step in nav.find("ol", class_="sortable-ids-path").find_all("li")] == [
        "All dates"
    ]
    assert [each.text for each in nav.find("ol", class_="sortable-ids-bars").find_all("li")] == [
        "2024 1",
        "2025 0",
        "2026 3",
    ]
    heights = [rect["height"] for rect in nav.find_all("rect")]
    assert heights == ["33", "0", "100"]
    assert not list(nav.find_all("script"))
    assert not list(nav.find_all("style"))
    assert "style" not in {name for each in nav.find_all("a") for name in each.attributes}


def test_a_list_may_have_its_own_template(tmp_path, settings, browser):
    folder = tmp_path / "admin" / "store" / "ulidproduct"
    folder.mkdir(parents=True)
    (folder / "change_list.html").write_text(
        '{% extends "admin/change_list.html" %}{% block search %}<p>Own.</p>{% endblock %}'
    )
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path]}]
    create(ULIDProduct, *YEARS)
    page = page_of(browser, list_url(ULIDProduct))
    assert "Own." in page.root.text
    assert page.root.find("ol", class_="sortable-ids-bars")


def test_a_list_may_have_its_own_class():
    class OwnList(ChangeList):
        pass

    class Other(admin.ModelAdmin):
        def get_changelist(self, request, **kwargs):
            return OwnList

    class BothAdmin(SortableIDAdmin, Other):
        created_at_hierarchy = "id"

    site = admin.AdminSite()
    site.register(ULIDProduct, BothAdmin)
    create(ULIDProduct, *YEARS)
    found = changelist(ULIDProduct, "?id__created_at__within=2026", site=site)
    assert isinstance(found, OwnList)
    assert (len(names(found)), bool(found.drill_down.bars)) == (3, True)


def test_a_time_that_is_too_short_is_said():
    class HastyAdmin(SortableIDAdmin):
        created_at_hierarchy = "id"
        created_at_hierarchy_seconds = 0

    site = admin.AdminSite()
    site.register(ULIDProduct, HastyAdmin)
    create(ULIDProduct, *YEARS)
    level = changelist(ULIDProduct, site=site).drill_down
    assert (level.note, level.bars) == ("Counting the rows took too long.", [])


# The check


HINT = "Name the path of a sortable id with a time, such as 'id' or"
HIERARCHY = "created_at_hierarchy"


class ByLetter(admin.SimpleListFilter):
    title = parameter_name = "letter"

    def lookups(self, request, model_admin):
        return [("a", "a")]

    def queryset(self, request, queryset):
        return queryset


def filters(*items):
    return {"list_filter": [*items]}


@in_one_case(
    ("base", "model", "options", "reason", "hint"),
    [
        (SortableIDAdmin, ULIDProduct, {HIERARCHY: "name"}, "'name' of store.ULIDProduct is", HINT),
        (SortableIDAdmin, ULIDProduct, {HIERARCHY: "nothing"}, "is no sortable id", HINT),
        (SortableIDAdmin, ULIDProduct, {HIERARCHY: "idd"}, "to one; nearest: id.", HINT),
        (SortableIDAdmin, ULIDProduct, {HIERARCHY: "baskets__id"}, "from a row to several", HINT),
        (SortableIDAdmin, SequenceProduct, {HIERARCHY: "id"}, "its ids carry no time", HINT),
        (
            *(SortableIDAdmin, ULIDProduct, {"created_at_hierachy": "id", "created_at": str}),
            "created_at_hierachy is no option; nearest: created_at_hierarchy",
            "Correct the name.",
        ),
        (admin.ModelAdmin, ULIDProduct, {HIERARCHY: "id"}, "OwnAdmin ignores it", "Derive"),
        (admin.ModelAdmin, ULIDProduct, filters(("idd", CreatedAtFilter)), "nearest: id.", HINT),
        (
            *(SortableIDAdmin, ULIDProduct),
            filters(("name", type("OwnFilter", (CreatedAtFilter,), {}))),
            *("'name' of store.ULIDProduct is no sortable id", HINT),
        ),
        # Django looks for a field of that name, and the page would be an error.
        (
            *(SortableIDAdmin, Basket, filters(("ulid__pk", CreatedAtFilter))),
            *("filters don't know 'ulid__pk'", "Name the field of the key."),
        ),
    ],
)
def test_an_admin_that_can_show_no_times_is_an_error_of_the_check(
    base, model, options, reason, hint
):
    (error,) = errors(base, model, options)
    assert error.id == "sortable_ids.E017"
    assert reason in error.msg
    assert error.hint.startswith(hint)


@in_one_case(
    ("base", "model", "options"),
    [
        (SortableIDAdmin, ULIDProduct, {HIERARCHY: "id"}),
        (SortableIDAdmin, ULIDProduct, {HIERARCHY: "pk"}),
        (SortableIDAdmin, Basket, {HIERARCHY: "ulid__id"}),
        (admin.ModelAdmin, Basket, filters(("all_ulid", CreatedAtFilter), "name", ByLetter)),
        (admin.ModelAdmin, ULIDProduct, {"list_filter": 5}),  # which Django's own check reports
    ],
)
def test_right_options_pass_the_check(base, model, options):
    assert errors(base, model, options) == []


def errors(base, model, options):
    """What the check says of an admin with these options."""
    site = admin.AdminSite()
    own = type("OwnAdmin", (base,), options)
    site.register(model, own)
    found = [each for each in check_admins() if each.obj is own]
    all_sites.discard(site)  # for the tests after this one
    return found


def test_bars_that_were_not_counted_are_links():
    periods = list(path_to("2026-07")[-1].inside())[:2]
    not_counted, empty = _bars([*zip(periods, (Count(0, "minimum"), Count(0)), strict=True)], str)
    assert (not_counted.url, empty.url) == ("2026-07-01", "")
    assert not_counted.text == "July 1, 2026: not counted"
