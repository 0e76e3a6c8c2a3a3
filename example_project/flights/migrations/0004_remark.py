"""A table that never had anything but sortable ids."""

from django.db import migrations, models
from django.db.models.deletion import CASCADE

from django_sortable_ids.fields import ULIDField


class Migration(migrations.Migration):
    dependencies = [("flights", "0003_public_id_unique")]

    operations = [
        migrations.CreateModel(
            "Remark",
            [
                ("id", ULIDField(prefix="remark", primary_key=True, serialize=False)),
                ("text", models.CharField(max_length=500)),
                (
                    "flight",
                    models.ForeignKey(on_delete=CASCADE, to="flights.flight", to_field="public_id"),
                ),
            ],
        ),
    ]
