from django.db import migrations, models
from django.db.models import Q

# What is not known to be the merchant's or the endpoint's own doing is an operator's: he can undo it.
NAME_THEM = """
    UPDATE outbox_destination
       SET rested_by = CASE
           WHEN kind = 'webhook' AND state = 'PAUSED' AND reason = 'its merchant paused it'
               THEN 'MERCHANT'
           WHEN kind = 'webhook' AND state = 'DISABLED' AND reason LIKE 'it answered 410 Gone%'
               THEN 'ENDPOINT'
           ELSE 'OPERATOR' END
     WHERE state <> 'ACTIVE'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0007_operating"),
    ]

    operations = [
        migrations.AddField(
            model_name="destination",
            name="rested_by",
            field=models.CharField(
                blank=True,
                choices=[
                    ("OPERATOR", "Operator"),
                    ("MERCHANT", "Merchant"),
                    ("ENDPOINT", "Endpoint"),
                ],
                db_default="",
                default="",
                max_length=8,
            ),
        ),
        migrations.RunSQL(NAME_THEM, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="destination",
            constraint=models.CheckConstraint(
                condition=Q(state="ACTIVE", rested_by="")
                | (~Q(state="ACTIVE") & Q(rested_by__in=["OPERATOR", "MERCHANT", "ENDPOINT"])),
                name="destination_says_who_let_it_rest",
            ),
        ),
    ]
