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


@pytest.mark.parametrize(
    "start",
    [
        'sys.modules["rest_framework"] = None\nsetup("django_sortable_ids")',
        'setup("django_sortable_ids")\nassert "rest_framework" not in sys.modules',
        'setup("rest_framework", "django_sortable_ids")',
        'setup("django_sortable_ids", "rest_framework")',
    ],
    ids=["can't be imported", "is not installed", "comes first", "comes last"],
)
def test_the_app_starts(start):
    done = run(start + "\n" + textwrap.dedent(MODEL))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("apps", "expected"),
    [
        ('"django_sortable_ids", "rest_framework"', "SortableIDField"),
        ('"rest_framework", "django_sortable_ids"', "SortableIDField"),
        ('"django_sortable_ids"', "ModelField"),
    ],
)
def test_fields_are_mapped_where_both_apps_are_installed(apps, expected):
    done = run(f"""
        setup({apps})
        from django_sortable_ids.fields import UUIDv7Field
        from rest_framework.serializers import ModelSerializer
        column = UUIDv7Field(name="id")
        column.set_attributes_from_name("id")
        print(ModelSerializer().build_standard_field("id", column)[0].__name__)
    """)
    assert (done.stdout.strip(), done.stderr) == (expected, "")
