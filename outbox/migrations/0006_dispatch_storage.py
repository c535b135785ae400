from django.db import migrations

# A batch is claimed in the order in which its rows lie, so every row of a page is written anew in
# one transaction. With half of the page free all of that fits, and no index hears of a claim.
HALF = "ALTER TABLE outbox_dispatch SET (fillfactor = 50)"
BEFORE = "ALTER TABLE outbox_dispatch SET (fillfactor = 70)"


class Migration(migrations.Migration):
    dependencies = [("outbox", "0005_types_for_merchants")]

    operations = [migrations.RunSQL(HALF, BEFORE)]
