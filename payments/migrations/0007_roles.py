from typing import Any

from django.db import migrations

ROLES = ("viewer", "reviewer", "approver", "operator", "admin")


def make_roles(apps: Any, _schema_editor: Any) -> None:
    """The groups; what they may is kept right after each migration, by `payments/roles.py`."""
    for name in ROLES:
        apps.get_model("auth", "Group").objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("payments", "0006_decisions"),
    ]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
