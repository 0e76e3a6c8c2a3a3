import uuid

import django.contrib.auth.validators
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

import django_sortable_ids.fields


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name="Ledger",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
            ],
            options={"db_table": "graph_ledger", "managed": False},
        ),
        migrations.CreateModel(
            name="Club",
            fields=[
                ("id", models.AutoField(primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Country",
            fields=[
                ("code", models.CharField(max_length=2, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Customer",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("name", models.CharField(max_length=30, unique=True)),
                ("text", models.TextField()),
                ("level", models.IntegerField()),
                ("created_at", models.DateTimeField(db_index=True)),
                (
                    "country",
                    models.ForeignKey(null=True, on_delete=models.PROTECT, to="graph.country"),
                ),
                ("friends", models.ManyToManyField(to="graph.customer")),
                ("home", models.ForeignKey(null=True, on_delete=models.SET_NULL, to="graph.club")),
                (
                    "invited_by",
                    models.ForeignKey(null=True, on_delete=models.SET_NULL, to="graph.customer"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128)),
                ("last_login", models.DateTimeField(blank=True, null=True)),
                ("is_superuser", models.BooleanField(default=False)),
                (
                    "username",
                    models.CharField(
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150)),
                ("last_name", models.CharField(blank=True, max_length=150)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                ("date_joined", models.DateTimeField()),
                ("id", models.BigAutoField(primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        related_name="user_set",
                        to="auth.group",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        related_name="user_set",
                        to="auth.permission",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                (
                    "customer",
                    models.OneToOneField(
                        on_delete=models.CASCADE,
                        primary_key=True,
                        to="graph.customer",
                    ),
                ),
                ("mark", models.IntegerField(unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Vip",
            fields=[
                (
                    "customer_ptr",
                    models.OneToOneField(
                        auto_created=True,
                        on_delete=models.CASCADE,
                        parent_link=True,
                        primary_key=True,
                        to="graph.customer",
                    ),
                ),
                ("rank", models.IntegerField()),
            ],
            bases=("graph.customer",),
        ),
        migrations.AddField(
            model_name="customer",
            name="user",
            field=models.OneToOneField(
                null=True, on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("object_id", models.CharField(max_length=40)),
                (
                    "content_type",
                    models.ForeignKey(on_delete=models.CASCADE, to="contenttypes.contenttype"),
                ),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=models.CASCADE, related_name="+", to="graph.customer"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="club",
            name="founder",
            field=models.ForeignKey(
                null=True, on_delete=models.CASCADE, related_name="founded", to="graph.customer"
            ),
        ),
        migrations.CreateModel(
            name="Badge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("holder", models.OneToOneField(on_delete=models.CASCADE, to="graph.customer")),
            ],
        ),
        migrations.CreateModel(
            name="Loan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                (
                    "badge",
                    models.ForeignKey(
                        on_delete=models.CASCADE, to="graph.badge", to_field="holder"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("club", models.ForeignKey(on_delete=models.CASCADE, to="graph.club")),
                ("customer", models.ForeignKey(on_delete=models.CASCADE, to="graph.customer")),
            ],
        ),
        migrations.AddField(
            model_name="club",
            name="members",
            field=models.ManyToManyField(
                related_name="clubs", through="graph.Membership", to="graph.customer"
            ),
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.AutoField(primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("number", models.IntegerField()),
                ("customer", models.ForeignKey(on_delete=models.CASCADE, to="graph.customer")),
                (
                    "shown_to",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="graph.customer",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Parcel",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("sent_at", models.DateTimeField()),
                (
                    "inside",
                    models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.parcel"),
                ),
                ("order", models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.order")),
            ],
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    django_sortable_ids.fields.ULIDField(
                        max_length=26, primary_key=True, storage="varchar"
                    ),
                ),
                ("mark", models.IntegerField(unique=True)),
                ("cause", models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.event")),
                (
                    "parcel",
                    models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.parcel"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Scan",
            fields=[
                ("id", django_sortable_ids.fields.HexULIDField(primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("event", models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.event")),
                (
                    "former",
                    models.OneToOneField(null=True, on_delete=models.CASCADE, to="graph.scan"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                (
                    "customer",
                    models.ForeignKey(
                        on_delete=models.CASCADE, to="graph.customer", to_field="name"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                ("customers", models.ManyToManyField(to="graph.customer")),
            ],
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True)),
                ("mark", models.IntegerField(unique=True)),
                (
                    "profile",
                    models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.profile"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GoldVip",
            fields=[
                (
                    "vip_ptr",
                    models.OneToOneField(
                        auto_created=True,
                        on_delete=models.CASCADE,
                        parent_link=True,
                        primary_key=True,
                        to="graph.vip",
                    ),
                ),
                ("medals", models.IntegerField()),
            ],
            bases=("graph.vip",),
        ),
        migrations.AddIndex(
            model_name="customer",
            index=models.Index(
                django.db.models.functions.text.Upper("name"),
                models.F("level"),
                name="graph_customer_upper",
            ),
        ),
        migrations.AddIndex(
            model_name="customer",
            index=models.Index(
                condition=models.Q(("invited_by__isnull", False)),
                fields=["level"],
                name="graph_customer_invited",
            ),
        ),
        migrations.AddConstraint(
            model_name="customer",
            constraint=models.CheckConstraint(
                condition=models.Q(("level__gte", 0)), name="graph_customer_level"
            ),
        ),
        migrations.AlterUniqueTogether(name="membership", unique_together={("club", "customer")}),
        migrations.AddIndex(
            model_name="order",
            index=models.Index(fields=["-customer", "number"], name="graph_order_newest"),
        ),
        migrations.AddConstraint(
            model_name="order",
            constraint=models.UniqueConstraint(
                condition=models.Q(("number", 0)), fields=("customer",), name="graph_order_first"
            ),
        ),
        migrations.AlterUniqueTogether(name="order", unique_together={("customer", "number")}),
        migrations.AddField(
            model_name="note",
            name="vip",
            field=models.ForeignKey(null=True, on_delete=models.CASCADE, to="graph.goldvip"),
        ),
    ]
