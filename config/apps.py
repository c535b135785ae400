"""The composition root as an application: its commands start and show the whole service."""

from django.apps import AppConfig


class Config(AppConfig):
    """Carries the commands `up`, `welcome`, `demo` and `states`, and keeps logins in the audit."""

    name = "config"

    def ready(self) -> None:
        """Connected when all models are there."""
        from config import audited_logins, names  # noqa: PLC0415 - the first needs models

        audited_logins.connect()
        names.translate()
