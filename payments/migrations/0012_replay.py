import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0011_notifications")]

    operations = [
        migrations.AlterModelOptions(
            name="delivery",
            options={
                "permissions": [
                    ("replay_delivery", "Can take stored deliveries once more"),
                    ("export_evidence", "Can export lists and evidence"),
                ],
                "verbose_name_plural": "deliveries",
            },
        ),
        migrations.AddField(
            model_name="delivery",
            name="replay_of",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replays",
                to="payments.delivery",
            ),
        ),
    ]
