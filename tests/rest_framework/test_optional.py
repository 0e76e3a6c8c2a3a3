"""Django REST framework is optional: the app starts without it."""

import subprocess
import sys
import textwrap

import pytest


def run(script):
    """A fresh interpreter, in which ``setup(apps)`` starts Django."""
    start = """
        import sys

        def setup(*apps):
            import django
            from django.conf import settings

            databases = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
            settings.configure(INSTALLED_APPS=apps, DATABASES=databases, USE_TZ=True)
            django.setup()
    """
    code = textwrap.dedent(start) + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )


MODEL = """
    from django.core.management import call_command
    from django.db import connection, models
    from django_sortable_ids.fields import ULIDField

    class Order(models.Model):
        id = ULIDField(primary_key=True)
        class Meta:
            app_label = "django_sortable_ids"

    call_command("check")
    with connection.schema_editor() as editor:
        editor.create_model(Order)
    assert Order.objects.filter(pk=Order.objects.create().pk).exists()
"""
MAPPED = """
    from django_sortable_ids.fields import UUIDv7Field
    from rest_framework.serializers import ModelSerializer
    column = UUIDv7Field(name="id")
    column.set_attributes_from_name("id")
    field, options = ModelSerializer().build_standard_field("id", column)
    print(type(field(**options)).__name__)
"""


def test_the_app_starts_where_it_cannot_be_imported():
    done = run(
        'sys.modules["rest_framework"] = None\nsetup("django_sortable_ids")\n'
        + textwrap.dedent(MODEL)
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "start",
    [
        'setup("django_sortable_ids")\nassert "rest_framework" not in sys.modules',
        'setup("rest_framework", "django_sortable_ids")',
    ],
    ids=["is not installed", "comes first"],
)
def test_the_app_starts_and_fields_are_mapped(start):
    done = run("\n".join([start, *map(textwrap.dedent, (MODEL, MAPPED))]))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "SortableIDField"


def test_django_filter_alone():
    done = run(
        'sys.modules["rest_framework"] = None\nsetup("django_sortable_ids", "django_filters")\n'
        + textwrap.dedent(MODEL)
        + textwrap.dedent("""
            import django_filters

            class Orders(django_filters.FilterSet):
                class Meta:
                    model = Order
                    fields = ["id"]

            order = Order.objects.create()
            assert list(Orders({"id": order.pk}, Order.objects.all()).qs) == [order]
        """)
    )
    assert (done.returncode, done.stderr) == (0, "")
