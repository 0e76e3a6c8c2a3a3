from django.db import migrations, models

from django_sortable_ids import fields, operations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("django_sortable_ids", "0001_initial"),
        ("graph", "0002_of_the_database"),
    ]

    operations = [
        operations.MigratePrimaryKey(
            keys=[
                operations.MovedKey(
                    "graph.User",
                    "id",
                    fields.UUIDv7AutoField(primary_key=True),
                    created_from="date_joined",
                    on_out_of_range="clamp",
                    old=models.BigIntegerField(editable=False, null=True, unique=True),
                ),
                operations.MovedKey(
                    "graph.Customer",
                    "id",
                    fields.UUIDv7AutoField(primary_key=True),
                    created_from="created_at",
                    on_out_of_range="clamp",
                    old=models.BigIntegerField(editable=False, null=True, unique=True),
                ),
                operations.MovedKey(
                    "graph.Club",
                    "id",
                    fields.ULIDAutoField(primary_key=True),
                    created_at="now",
                    old=models.IntegerField(editable=False, null=True, unique=True),
                ),
                operations.MovedKey(
                    "graph.Order",
                    "id",
                    fields.SnowflakeAutoField(primary_key=True),
                    created_from="customer__created_at",
                    on_out_of_range="clamp",
                    old=models.IntegerField(editable=False, null=True, unique=True),
                ),
                operations.MovedKey(
                    "graph.Parcel",
                    "id",
                    fields.UUIDv7Field(primary_key=True),
                    created_from="sent_at",
                    on_out_of_range="clamp",
                    old=models.UUIDField(editable=False, null=True, unique=True),
                ),
                operations.MovedKey(
                    "graph.Event",
                    "id",
                    fields.UUIDv7Field(primary_key=True),
                    convert_from="id",
                    old=fields.ULIDField(
                        max_length=26, null=True, storage="varchar", editable=False, unique=True
                    ),
                ),
                operations.MovedKey(
                    "graph.Scan",
                    "id",
                    fields.ULIDField(primary_key=True),
                    convert_from="id",
                    old=fields.HexULIDField(editable=False, null=True, unique=True),
                ),
            ],
            allowed=["graph_*"],
            references=[
                ("django_admin_log", "user_id", "graph.User"),
                ("graph_badge", "holder_id", "graph.Customer"),
                ("graph_club", "founder_id", "graph.Customer"),
                ("graph_comment", "author_id", "graph.Customer"),
                ("graph_customer", "home_id", "graph.Club"),
                ("graph_customer", "invited_by_id", "graph.Customer"),
                ("graph_customer", "user_id", "graph.User"),
                ("graph_customer_friends", "from_customer_id", "graph.Customer"),
                ("graph_customer_friends", "to_customer_id", "graph.Customer"),
                ("graph_event", "cause_id", "graph.Event"),
                ("graph_event", "parcel_id", "graph.Parcel"),
                ("graph_goldvip", "vip_ptr_id", "graph.Customer"),
                ("graph_ledger", "customer_id", "graph.Customer"),
                ("graph_loan", "badge_id", "graph.Customer"),
                ("graph_membership", "club_id", "graph.Club"),
                ("graph_membership", "customer_id", "graph.Customer"),
                ("graph_note", "profile_id", "graph.Customer"),
                ("graph_note", "vip_id", "graph.Customer"),
                ("graph_order", "customer_id", "graph.Customer"),
                ("graph_order", "shown_to_id", "graph.Customer"),
                ("graph_parcel", "inside_id", "graph.Parcel"),
                ("graph_parcel", "order_id", "graph.Order"),
                ("graph_profile", "customer_id", "graph.Customer"),
                ("graph_scan", "event_id", "graph.Event"),
                ("graph_scan", "former_id", "graph.Scan"),
                ("graph_tag_customers", "customer_id", "graph.Customer"),
                ("graph_user_groups", "user_id", "graph.User"),
                ("graph_user_user_permissions", "user_id", "graph.User"),
                ("graph_vip", "customer_ptr_id", "graph.Customer"),
            ],
            generic=[
                ("django_admin_log", "object_id", "content_type_id"),
                ("graph_comment", "object_id", "content_type_id"),
            ],
        ),
    ]
