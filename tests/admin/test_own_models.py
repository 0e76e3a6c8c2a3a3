"""Where the models of the app are registered, in projects of every kind."""

import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest
from django.utils.formats import localize
from django.utils.timezone import template_localtime

from django_sortable_ids.models import SequenceCounter, WorkerLease
from django_sortable_ids.workers import leases
from tests.support import ROOT

from .support import list_url, page_of

OWN = ["BackfillRun", "SequenceCounter", "WorkerLease"]
SITE = """
from django.contrib.admin import AdminSite
from django_sortable_ids.admin import SortableIDAdmin


class OwnSite(AdminSite):
    default_admin = SortableIDAdmin
"""
CONFIG = """
from django.contrib.admin.apps import AdminConfig


class OwnConfig(AdminConfig):
    default_site = "own_site.OwnSite"
"""
REGISTERS_ITS_OWN = """
from django.apps import AppConfig


class ShopConfig(AppConfig):
    name = "shop"

    def ready(self):
        from django.contrib.admin import ModelAdmin, site
        from django_sortable_ids.models import BackfillRun

        class Mine(ModelAdmin):
            pass

        site.register(BackfillRun, Mine)
"""
SHOW = """
import sys

import django
from django.conf import settings

apps = {apps!r}
settings.configure(INSTALLED_APPS=apps, USE_TZ=True)
django.setup()
if not django.apps.apps.is_installed("django.contrib.admin"):
    assert "django.contrib.admin" not in sys.modules
    sys.exit()
from django.contrib.admin import site

for model in sorted(site._registry, key=lambda model: model.__name__):
    if model._meta.app_label == "django_sortable_ids":
        print(type(site._wrapped).__name__, model.__name__, type(site._registry[model]).__name__)
"""
DJANGOS = ["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.messages"]
ADMIN, OURS = "django.contrib.admin", "django_sortable_ids"


def registered(folder, apps):
    """The app's models in the default site of such a project: site, model and model admin."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SHOW.format(apps=[*DJANGOS, *apps])],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("apps", [[ADMIN, OURS], [OURS, ADMIN]], ids=["after", "before"])
def test_the_default_site_has_them_wherever_the_app_is_listed(tmp_path, apps):
    assert registered(tmp_path, apps) == [["AdminSite", name, f"{name}Admin"] for name in OWN]


def test_the_module_of_a_default_site_may_import_ours(tmp_path):
    (tmp_path / "own_site.py").write_text(SITE)
    (tmp_path / "own_config.py").write_text(CONFIG)
    found = registered(tmp_path, [OURS, "own_config.OwnConfig"])
    assert found == [["OwnSite", name, f"{name}Admin"] for name in OWN]


def test_a_model_that_the_project_registers_is_left_as_it_is(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "apps.py").write_text(REGISTERS_ITS_OWN)
    found = registered(tmp_path, [ADMIN, "shop.apps.ShopConfig", OURS])
    assert found[0] == ["AdminSite", "BackfillRun", "Mine"]
    assert len(found) == 3


def test_a_project_without_the_admin_imports_none(tmp_path):
    assert registered(tmp_path, [OURS]) == []


# Worker leases

transactional = pytest.mark.django_db(transaction=True)


TERMS = leases.Terms(term=60_000, skew=10_000)


def now_ms():
    return int(time.time() * 1000)


def rows(browser, model=WorkerLease, **parameters):
    """The cells of each row."""
    page = page_of(browser, list_url(model, **parameters)).root
    bodies = [table.find("tbody") for table in page.find_all("table", id="result_list")]
    return [
        [cell.text for cell in row.find_all("td")] for body in bodies for row in body.find_all("tr")
    ]


def shown(ms):
    return str(localize(template_localtime(datetime.fromtimestamp(ms // 1000, UTC))))


@transactional
def test_a_lease_from_its_start_to_its_end(browser):
    held = leases.take(8, TERMS, now_ms, "default")
    owner, ended = WorkerLease.objects.get().owner, now_ms() - 5000
    assert rows(browser) == [["0", owner, shown(held.starts), shown(held.expires)]]
    leases.give_back(held, ended, "default")
    assert rows(browser) == [["0", owner, shown(held.starts), shown(ended)]]


@transactional
def test_nobody_reads_the_token(browser):
    held = leases.take(8, TERMS, now_ms, "default")
    assert held.token not in browser.get(list_url(WorkerLease)).content.decode()
    assert rows(browser, q=held.token) == []


@transactional
def test_counters(browser):
    SequenceCounter.objects.create(key="shop_order.number", first="A0", step=2, taken=40)
    assert rows(browser, SequenceCounter) == [["shop_order.number", "A0", "2", "40"]]
