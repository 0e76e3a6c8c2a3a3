"""What axe-core finds in our pages and in our parts of other pages: nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from .browsing import Browser, log_in, opened
from .support import Demo

pytestmark = pytest.mark.browser

FRONT = "/"
LIST = "/admin/flights/flight/?public_id__created_at__within=2013-07"
WRONG_DAYS = (
    "/admin/flights/flight/?public_id__created_at__date__gte=2013-07-08"
    "&public_id__created_at__date__lte=2013-07-01"
)
INSPECTOR = "/admin/flights/flight/inspect-id/?q=017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
BACKFILLS = "/admin/django_sortable_ids/backfillrun/"
PAGES = {
    FRONT: "html",
    LIST: "[class*=sortable-ids]",
    WRONG_DAYS: "[class*=sortable-ids]",
    INSPECTOR: "html, #content",
    BACKFILLS: "html, #content",
}
"""Each page and what of it is ours. The ``html`` has the findings about the page as a whole."""

CHECK = """
const [ours, done] = arguments;
const isOurs = ({target}) => {
  const element = document.querySelector(target[0]);
  return ours === "html" || element.matches(ours) || element.closest(ours.replace("html, ", ""));
};
const nodes = (rules) => rules.flatMap(({id, nodes}) => nodes.filter(isOurs).map((node) =>
  `${id}: ${node.target} ${node.html} ${node.failureSummary || ""}`));
axe.run().then(({violations, passes}) => done([nodes(violations), nodes(passes).length]));
"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    package = find_spec("axe_playwright_python")
    assert package, "no axe-core here: pip install -e '.[accessibility]'"
    return Path(str(package.origin)).with_name("axe.min.js").read_text()


@pytest.fixture(scope="module", params=["config.settings", "tests.example.settings_arabic"])
def admin(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, csv_files: Path
) -> Iterator[tuple[Browser, str]]:
    """A browser that is logged in, and the beginning of URLs, from left to right and back."""
    folder = tmp_path_factory.mktemp("site")
    demo = Demo(folder / "flights.sqlite3", csv_files, settings=request.param)
    with demo.served() as host, opened(folder / "browser") as browser:
        fail_one_backfill(demo)
        log_in(browser, f"{host}{BACKFILLS}")
        yield browser, host


def fail_one_backfill(demo: Demo) -> None:
    with closing(sqlite3.connect(demo.database)) as database, database:
        database.execute(
            "UPDATE django_sortable_ids_backfillrun SET finished_at = NULL, token = '', "
            "last_error = 'lock timeout' WHERE target = 'flights.Flight.public_id'"
        )


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_of_ours(admin: tuple[Browser, str], axe: str, path: str) -> None:
    browser, host = admin
    found: list[str] = []
    for scheme in ("light", "dark"):
        for width in (320, 1280):
            browser.show_as(scheme, width)
            browser.get(host + path)
            browser.execute_script(axe)
            violations, passed = browser.execute_async_script(CHECK, PAGES[path])
            assert passed > 5
            found += [f"{scheme}, {width}: {each}" for each in violations]
    assert not found, "\n".join(found)


def test_arabic_pages_are_from_right_to_left(admin: tuple[Browser, str]) -> None:
    browser, host = admin
    browser.get(host + LIST)
    is_arabic = browser.execute_script("return document.documentElement.lang") == "ar"
    direction = browser.execute_script("return getComputedStyle(document.body).direction")
    assert direction == ("rtl" if is_arabic else "ltr")
