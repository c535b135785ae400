"""What the clock asks of the kernel."""

from typing import Any

import structlog
from celery import shared_task
from django.conf import settings

from idempotency import sweep
from idempotency.retention import forget

log = structlog.get_logger(__name__)


@shared_task(name="idempotency.forget_old_keys")
def forget_old_keys(**_newer_arguments: Any) -> None:
    """Delete final records that are past their horizon."""
    forgotten = forget(horizon=settings.IDEMPOTENCY_KEPT)
    if forgotten:
        log.info("idempotency_keys_forgotten", forgotten=forgotten)


@shared_task(name="idempotency.recover_expired")
def recover_expired(**_newer_arguments: Any) -> None:
    """Find out what became of work whose owner died and whose caller never asked again."""
    recovered = sweep.sweep(sweep.PROCEDURES)
    if recovered:
        log.info("idempotency_keys_recovered", recovered=recovered)
    left = sweep.left_alone(sweep.PROCEDURES)
    if left:
        log.error("idempotency_keys_that_nobody_recovers", number=left)
