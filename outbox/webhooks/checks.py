"""What `manage.py check --deploy` says about webhooks."""

from typing import Any

from django.conf import settings
from django.core.checks import Tags, Warning, register  # noqa: A004 - Django's name


@register(Tags.security, deploy=True)
def no_private_addresses(**_: Any) -> list[Warning]:
    """In production merchants must not make the service call its own network."""
    if not settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE:
        return []
    return [
        Warning(
            "OUTBOX_WEBHOOK_ALLOW_PRIVATE is on: merchants can let this service send requests "
            "into its own network, and in the clear.",
            hint="Unset it; it is for tests and development.",
            id="outbox.W001",
        )
    ]
