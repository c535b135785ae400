from django.contrib.postgres.indexes import HashIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Built beside the callbacks that are received meanwhile."""

    atomic = False
    dependencies = [("payments", "0012_replay")]
    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=HashIndex(fields=["event_id"], name="delivery_by_event"),
        ),
        AddIndexConcurrently(
            model_name="delivery",
            index=HashIndex(
                condition=models.Q(("item_no", 0)),
                fields=["body_sha256"],
                name="delivery_by_digest",
            ),
        ),
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("replay_of__isnull", False)),
                fields=["replay_of"],
                name="delivery_replays",
            ),
        ),
    ]
