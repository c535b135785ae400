"""Webhook endpoints that named no types say now which they get: all but what is internal."""

from django.db import migrations

NAME_TYPES = """
    UPDATE outbox_destination SET event_types = '{order.*,payment.*,refund.*}'
     WHERE kind = 'webhook' AND event_types = '{}'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0004_inbox"),
    ]

    operations = [
        migrations.RunSQL(NAME_TYPES, migrations.RunSQL.noop),
    ]
