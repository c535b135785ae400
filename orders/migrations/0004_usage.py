import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0003_daily_totals")]
    operations = [
        migrations.CreateModel(
            name="Usage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "what",
                    models.CharField(choices=[("CALLS", "Calls"), ("KEYS", "Keys")], max_length=5),
                ),
                ("window_no", models.BigIntegerField()),
                ("used", models.PositiveIntegerField()),
                (
                    "merchant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="orders.merchant",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("merchant", "what"), name="usage_is_one_row_each"
                    )
                ],
            },
        ),
        # A count waits for no disk and is worth nothing after a crash.
        migrations.RunSQL(
            "ALTER TABLE orders_usage SET UNLOGGED", "ALTER TABLE orders_usage SET LOGGED"
        ),
    ]
