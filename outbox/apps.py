"""The application as Django knows it."""

from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """Registers what `manage.py check` looks at."""

    name = "outbox"

    def ready(self) -> None:
        """Import the checks, which is how Django hears of them."""
        from outbox.webhooks import checks  # noqa: F401, PLC0415
