"""Django's `createsuperuser`, entered in the audit."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.contrib.auth.models import User

from audit import chain
from audit.actors import command_line


class Command(createsuperuser.Command):
    """As Django's; the name may have been asked for, so the audit looks at what was made."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the user, and keep who was made."""
        before = set(User.objects.values_list("pk", flat=True))
        super().handle(*args, **options)
        for user in User.objects.exclude(pk__in=before).order_by("pk"):
            chain.record(
                by=command_line(),
                action="user.added",
                object_type="user",
                object_id=user.pk,
                after={"username": user.username, "superuser": user.is_superuser},
            )
