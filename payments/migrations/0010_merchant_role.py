from typing import Any

from django.db import migrations


def make_role(apps: Any, _schema_editor: Any) -> None:
    """The group; what it may is kept right after each migration, by `payments/roles.py`."""
    apps.get_model("auth", "Group").objects.get_or_create(name="merchant")


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("payments", "0009_manual_payments"),
    ]

    operations = [migrations.RunPython(make_role, migrations.RunPython.noop)]
