"""Makes room for the ids. Rows keep none until ``backfill_ids`` gives them one."""

from django.db import migrations

from django_sortable_ids.fields import ULIDField, UUIDv7Field


class Migration(migrations.Migration):
    dependencies = [("flights", "0001_initial")]

    operations = [
        migrations.AddField(
            "Flight", "public_id", UUIDv7Field(null=True, prefix="flight", encoding="base32")
        ),
        migrations.AddField("Weather", "public_id", ULIDField(null=True, prefix="weather")),
    ]
