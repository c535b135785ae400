"""What the clock asks of orders."""

from typing import Any

import structlog
from celery import shared_task
from django.utils import timezone

from orders.expiry import expire_due

log = structlog.get_logger(__name__)


@shared_task(name="orders.expire_orders")
def expire_orders(**_newer_arguments: Any) -> None:
    """Close the orders whose time has passed; arguments of a newer sender are ignored."""
    closed = expire_due(now=timezone.now())
    if closed:
        log.info("orders_expired", closed=closed)
