"""The clock's errands in payments."""

from typing import Any

import structlog
from celery import shared_task
from django.conf import settings
from django.utils import timezone

from payments.sweep import sweep

log = structlog.get_logger(__name__)


@shared_task(name="payments.sweep_parked")
def sweep_parked(**_later: Any) -> None:
    """Match parked payments to orders, and ask a person about those that waited too long."""
    swept = sweep(now=timezone.now(), grace=settings.PARKED_GRACE)
    if swept.applied or swept.conflicts:
        log.info("parked payments swept", applied=swept.applied, conflicts=swept.conflicts)
