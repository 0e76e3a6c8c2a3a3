"""Every row has its id: it becomes unique, with an index, and NOT NULL."""

from django.db import migrations

from django_sortable_ids.fields import ULIDField, UUIDv7Field


class Migration(migrations.Migration):
    dependencies = [("flights", "0002_public_id")]

    operations = [
        migrations.AlterField(
            "Flight", "public_id", UUIDv7Field(unique=True, prefix="flight", encoding="base32")
        ),
        migrations.AlterField("Weather", "public_id", ULIDField(unique=True, prefix="weather")),
    ]
