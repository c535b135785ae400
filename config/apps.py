"""The composition root as an application: its commands start and show the whole service."""

from django.apps import AppConfig


class Config(AppConfig):
    """Carries the commands `up`, `welcome`, `demo` and `states`, and keeps logins in the audit."""

    name = "config"

    def ready(self) -> None:
        """Connected when all models are there."""
        from config import audited_logins  # noqa: PLC0415 - it needs models

        audited_logins.connect()
