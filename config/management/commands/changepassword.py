"""Django's `changepassword`, entered in the audit."""

from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.models import User

from audit import chain
from audit.actors import command_line


class Command(changepassword.Command):
    """As Django's; the audit keeps whose it was, never what it is."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        """Change it, and keep that it was changed."""
        said: str | None = super().handle(*args, **options)
        user = User.objects.filter(username=options["username"] or command_line().name).first()
        if user is not None:
            chain.record(
                by=command_line(),
                action="user.changed",
                object_type="user",
                object_id=user.pk,
                after={"username": user.username, "fields": ["password"]},
            )
        return said
