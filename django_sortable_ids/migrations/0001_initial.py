from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="BackfillRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("target", models.CharField(max_length=200, unique=True)),
                ("options", models.JSONField()),
                ("cursor", models.JSONField(null=True)),
                ("ids_since", models.DateTimeField(null=True)),
                ("batches", models.PositiveBigIntegerField(default=0)),
                ("rows_filled", models.PositiveBigIntegerField(default=0)),
                ("rows_planned", models.PositiveBigIntegerField(default=0)),
                ("owner", models.CharField(default="", max_length=200)),
                ("token", models.CharField(default="", max_length=32)),
                ("heartbeat", models.BigIntegerField(default=0)),
                ("batch_size", models.PositiveBigIntegerField(default=0)),
                ("rate", models.FloatField(default=0.0)),
                ("last_error", models.CharField(default="", max_length=1000)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={"verbose_name": "backfill", "verbose_name_plural": "backfills"},
        ),
        migrations.CreateModel(
            name="SequenceCounter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200, unique=True)),
                ("first", models.CharField(max_length=255)),
                ("step", models.PositiveBigIntegerField()),
                ("taken", models.PositiveBigIntegerField()),
            ],
            options={
                "verbose_name": "sequence counter",
                "verbose_name_plural": "sequence counters",
            },
        ),
        migrations.CreateModel(
            name="MoveNote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("target", models.CharField(max_length=200, unique=True)),
                ("identity", models.JSONField()),
                ("state", models.JSONField()),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={"verbose_name": "note of a move", "verbose_name_plural": "notes of moves"},
        ),
        migrations.CreateModel(
            name="WorkerLease",
            fields=[
                ("number", models.PositiveIntegerField(primary_key=True, serialize=False)),
                ("owner", models.CharField(max_length=200)),
                ("token", models.CharField(max_length=32)),
                ("starts", models.BigIntegerField()),
                ("expires", models.BigIntegerField()),
            ],
            options={"verbose_name": "worker lease", "verbose_name_plural": "worker leases"},
        ),
    ]
