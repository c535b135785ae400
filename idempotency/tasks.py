"""What the clock asks of the kernel."""

from typing import Any

import structlog
from celery import shared_task
from django.conf import settings

from idempotency.retention import forget

log = structlog.get_logger(__name__)


@shared_task(name="idempotency.forget_old_keys")
def forget_old_keys(**_newer_arguments: Any) -> None:
    """Delete final records that are past their horizon."""
    forgotten = forget(horizon=settings.IDEMPOTENCY_KEPT)
    if forgotten:
        log.info("idempotency_keys_forgotten", forgotten=forgotten)
