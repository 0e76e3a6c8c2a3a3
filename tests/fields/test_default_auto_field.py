"""Ids as the keys of models that name none: ``DEFAULT_AUTO_FIELD``."""

import pytest
from django.db import connection, models
from django.test.utils import isolate_apps

from django_sortable_ids.fields import SnowflakeField, ULIDField, UUIDv7Field
from tests.marks import own_tables


class AutoUUIDv7Field(UUIDv7Field, models.AutoField):
    pass


class AutoULIDField(ULIDField, models.AutoField):
    pass


class AutoSnowflakeField(SnowflakeField, models.AutoField):
    pass


@own_tables
@isolate_apps("tests.testapp")
@pytest.mark.parametrize("field_class", [AutoUUIDv7Field, AutoULIDField, AutoSnowflakeField])
def test_a_model_that_names_no_key(field_class, settings):
    settings.DEFAULT_AUTO_FIELD = f"{__name__}.{field_class.__name__}"

    class Keyless(models.Model):
        name = models.CharField(max_length=9)

        class Meta:
            app_label = "testapp"

        def __str__(self):
            return self.name

    with connection.schema_editor() as editor:
        editor.create_model(Keyless)
    try:
        rows = [Keyless.objects.create(name=name) for name in "ab"]
        rows += Keyless.objects.bulk_create([Keyless(name=name) for name in "cd"])
        assert {type(row.pk) for row in rows} == {field_class().scheme.value_type}
        found = Keyless.objects.order_by("pk").values_list("pk", "name")
        assert list(found) == [(row.pk, row.name) for row in rows]
    finally:
        with connection.schema_editor() as editor:
            editor.delete_model(Keyless)


@isolate_apps("tests.testapp")
def test_a_class_that_is_no_auto_field_is_refused(settings):
    settings.DEFAULT_AUTO_FIELD = "django_sortable_ids.fields.UUIDv7Field"
    with pytest.raises(ValueError, match="must subclass AutoField"):

        class Keyless(models.Model):
            class Meta:
                app_label = "testapp"

            def __str__(self):
                return ""
