from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Built beside the orders that are placed meanwhile."""

    atomic = False
    dependencies = [("orders", "0001_initial")]
    operations = [
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(
                condition=models.Q(("status", "WAIT_PAY")),
                fields=["created_at"],
                name="order_waiting",
            ),
        ),
    ]
