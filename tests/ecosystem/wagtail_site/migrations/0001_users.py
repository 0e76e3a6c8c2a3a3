"""What the table has of the user; texts for forms are left out."""

from django.contrib.auth.models import UserManager
from django.db import migrations, models

from django_sortable_ids.fields import UUIDv7AutoField


class Migration(migrations.Migration):
    initial = True
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128)),
                ("last_login", models.DateTimeField(blank=True, null=True)),
                ("is_superuser", models.BooleanField(default=False)),
                ("id", UUIDv7AutoField(primary_key=True, serialize=False)),
                ("username", models.CharField(max_length=30, unique=True)),
                ("email", models.EmailField(max_length=254)),
                ("first_name", models.CharField(max_length=30)),
                ("last_name", models.CharField(max_length=30)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                *(
                    (
                        name,
                        models.ManyToManyField(
                            to, related_name="user_set", related_query_name="user", blank=True
                        ),
                    )
                    for name, to in (
                        ("groups", "auth.group"),
                        ("user_permissions", "auth.permission"),
                    )
                ),
            ],
            managers=[("objects", UserManager())],
        )
    ]
