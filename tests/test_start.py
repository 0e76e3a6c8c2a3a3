"""What a process imports when it starts, and what only when it uses it."""

import re
import subprocess
import sys
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import django_sortable_ids

ROOT = Path(django_sortable_ids.__file__).parent
START = """
    import sys
    import django
    from django.conf import settings

    contrib = ("admin", "auth", "contenttypes", "messages", "sessions")
    settings.configure(
        INSTALLED_APPS=[*(f"django.contrib.{name}" for name in contrib), *APPS],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        SECRET_KEY="x",
        USE_TZ=True,
    )
    django.setup()
"""
OURS, REST = "django_sortable_ids", "rest_framework"
MODEL = """
    from django.db import connection, models
    from django_sortable_ids.fields import ULIDField

    class Order(models.Model):
        id = ULIDField(primary_key=True, prefix="ord")
        class Meta:
            app_label = "shop"

    with connection.schema_editor() as editor:
        editor.create_model(Order)
    assert Order.objects.get(pk=Order.objects.create().pk)
"""
SHOWN = 'print(*sorted(each for each in sys.modules if each.startswith("django_sortable_ids.")))'


@cache
def imported(*scripts, apps=(REST, OURS), before=""):
    """The package's modules in a process that has started Django and run the scripts."""
    code = "\n".join(map(textwrap.dedent, (before, f"APPS = {apps!r}", START, *scripts, SHOWN)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].replace("django_sortable_ids.", "").split()


def rooms(modules):
    return {each.partition(".")[0] for each in modules}


def test_an_app_whose_fields_are_not_used_is_hardly_imported():
    modules = imported()
    assert rooms(modules) == {"admin", "apps", "models"}
    assert len(modules) <= 4


def test_a_model_and_its_first_query_import_what_a_column_needs():
    modules = imported(MODEL)
    fields = {"conf", "db", "fields", "lookups", "schemes"}
    assert rooms(modules) <= rooms(imported()) | fields
    assert len(modules) <= 32


def test_of_the_catalogue_only_what_is_used_is_built():
    model = MODEL.replace("ULIDField", "UUIDv7Field")
    modules = {*imported(model)}
    others = {"mask", "leased_generator"}
    others |= {f"catalog.{each}" for each in ("sequence", "texts", "integers", "rules")}
    assert not {f"schemes.{each}" for each in others} & modules
    assert "schemes.catalog.uuids" in modules


def test_a_creation_time_imports_its_sql_and_registers_its_lookups():
    query = "assert Order.objects.filter(id__created_at__year__gte=2026).exists()"
    assert {"functions.created_at", "functions.ticks"} <= {*imported(MODEL, query)}
    imported(
        MODEL,
        """
        from datetime import UTC, datetime
        from django_sortable_ids.functions import CreatedAt
        rows = Order.objects.annotate(at=CreatedAt("id")).filter(at__gte=datetime.now(UTC))
        assert '"shop_order"."id" >= ' in str(rows.query), rows.query
        """,
    )


SERIALIZER = """
    class OrderSerializer(serializers.ModelSerializer):
        class Meta:
            model = Order
            fields = ["id"]

    assert OrderSerializer(Order.objects.create()).data["id"].startswith("ord_")
"""
FILTERS = "import django_filters"
FILTER = """
    class OrderFilter(django_filters.FilterSet):
        class Meta:
            model = Order
            fields = ["id"]

    assert type(OrderFilter().filters["id"]).__name__ == "SortableIDFilter"
"""


@pytest.mark.parametrize(
    ("ours", "theirs", "used", "modules"),
    [
        (
            *("rest_framework.fields", "from rest_framework import serializers", SERIALIZER),
            ["rest_framework.fields", "rest_framework.fields"],
        ),
        ("filters", FILTERS, FILTER, ["filters", "filters"]),
    ],
    ids=["serializers", "filters"],
)
def test_ids_are_known_whoever_is_imported_first(ours, theirs, used, modules):
    ours_first = f"import django_sortable_ids.{ours}\n{theirs}"
    assert modules[0] in imported(MODEL, ours_first, used)
    assert modules[1] in imported(theirs, MODEL, used)


# Django REST framework is optional

MAPPED = """
    from rest_framework.serializers import ModelSerializer
    field, options = ModelSerializer().build_standard_field("id", Order._meta.pk)
    assert type(field(**options)).__name__ == "PublicIDField"
"""
COPIED = """
    from rest_framework import serializers

    class Copied(serializers.ModelSerializer):
        serializer_field_mapping = serializers.ModelSerializer.serializer_field_mapping.copy()
"""
NOT_INSTALLED = 'import sys\nsys.modules["rest_framework"] = None'
CHECKED = """
    from django.core.management import call_command
    call_command("check", tags=["models", "urls"])
"""


def test_the_app_starts_where_it_cannot_be_imported():
    imported(MODEL, CHECKED, apps=(OURS,), before=NOT_INSTALLED)
    imported(MODEL, FILTERS, FILTER, apps=(OURS, "django_filters"), before=NOT_INSTALLED)


def test_fields_are_mapped_where_it_is_not_an_app():
    imported(MODEL, 'assert "rest_framework" not in sys.modules', MAPPED, apps=(OURS,))
    imported(MODEL, MAPPED, apps=(REST, OURS))


def test_fields_are_mapped_in_a_copy_from_before_the_start():
    """Such as that of wagtail's API, which models import."""
    mapped = MAPPED.replace("ModelSerializer()", "Copied()")
    imported(MODEL, mapped, apps=(OURS,), before=textwrap.dedent(COPIED))


OLD_FINDER = """
    import sys
    import warnings
    from types import SimpleNamespace

    warnings.simplefilter("ignore", ImportWarning)
    sys.meta_path.append(SimpleNamespace(find_module=lambda name, path=None: None))
"""
MISSING = """
    try:
        import graphene_django
        raise AssertionError
    except ModuleNotFoundError:
        pass
"""


def test_python_asks_an_old_finder_in_its_own_way():
    """Such as that of an old copy of six, which has no ``find_spec``."""
    imported(MODEL, MISSING, apps=(OURS,), before=textwrap.dedent(OLD_FINDER))


def test_what_is_registered_by_name_exists():
    sources = {path: path.read_text() for path in ROOT.rglob("*.py")}
    paths = [
        found
        for path, source in sources.items()
        for found in re.findall(r'(?:deferred|_adapt)\((?:\w+, )?"([\w.]+:\w+)"', source)
    ]
    checks = re.findall(r'\("([\w.]+:\w+)", Tags', sources[ROOT / "apps.py"])
    for path in [*paths, *checks]:
        module, _, name = path.partition(":")
        assert callable(getattr(import_module(f"django_sortable_ids.{module}"), name)), path
    assert len(paths) > 10
    assert len(checks) == 4
