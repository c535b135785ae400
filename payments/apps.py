"""Payments as an application."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate  # noqa: TID251 - Django's only way to say: after migrate


class Payments(AppConfig):
    """Keeps the roles right after each `migrate`."""

    name = "payments"

    def ready(self) -> None:
        """Connected here, so that Django has made this application's permissions before."""
        from payments.roles import keep_roles  # noqa: PLC0415 - models are not loaded earlier

        post_migrate.connect(keep_roles, sender=self, dispatch_uid="payments.roles")
