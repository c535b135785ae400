from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Nobody who tells an event has to wait while the index is built.
    atomic = False

    dependencies = [
        ("outbox", "0006_dispatch_storage"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="destination",
            options={
                "permissions": [
                    (
                        "operate_destination",
                        "Can pause and resume destinations, and send events again",
                    )
                ]
            },
        ),
        migrations.AlterModelOptions(
            name="endpointsecret",
            options={
                "permissions": [
                    ("rotate_endpointsecret", "Can rotate and retire secrets of webhooks")
                ]
            },
        ),
        AddIndexConcurrently(
            model_name="dispatch",
            index=models.Index(
                fields=["destination", "dead_at"],
                condition=Q(dead_at__isnull=False),
                name="dispatch_dead_of_destination",
            ),
        ),
        RemoveIndexConcurrently(model_name="dispatch", name="dispatch_dead"),
    ]
