"""The clock's errands in payments, and those of orders that must ask a provider."""

import functools
import ssl
from collections import Counter
from typing import Any

import structlog
from celery import shared_task
from django.conf import settings
from django.utils import timezone

from orders.expiry import expire_due
from outbox.webhooks.exchange import Post
from payments import asking, confirmations, polling, unanswered
from payments.conflicts.follow_up import follow_up
from payments.notifications import collect, send
from payments.policies.apply import apply_policies
from payments.refunds import access, carry_out, recover
from payments.refunds import sweep as refunds_sweep
from payments.sweep import sweep

log = structlog.get_logger(__name__)


@shared_task(name="payments.sweep_parked")
def sweep_parked(**_later: Any) -> None:
    """Match what is parked to what it waits for, and ask a person about what waited too long."""
    now = timezone.now()
    swept = sweep(now=now, grace=settings.PARKED_GRACE)
    if swept.applied or swept.conflicts:
        log.info("parked payments swept", applied=swept.applied, conflicts=swept.conflicts)
    matched, asked = refunds_sweep.sweep(now=now, grace=settings.PARKED_GRACE)
    if matched or asked:
        log.info("parked refunds swept", payments=matched, conflicts=asked)


@shared_task(name="payments.carry_out_refunds")
def carry_out_refunds(**_later: Any) -> None:
    """Send the refunds that are due to their providers."""
    clients = access.clients(timezone.now)
    _log("refunds sent", carry_out.carry_out(clients, now=timezone.now()))


@shared_task(name="payments.recover_refunds")
def recover_refunds(**_later: Any) -> None:
    """Ask about the refunds whose answer was lost or comes later."""
    clients = access.clients(timezone.now)
    _log("refunds asked about", recover.recover(clients, now=timezone.now()))


@shared_task(name="payments.decide_conflicts")
def decide_conflicts(**_later: Any) -> None:
    """Let policies decide what they may, and ask again where a decided refund has failed."""
    now = timezone.now()
    decided = apply_policies(client_for=access.clients(timezone.now), now=now)
    reopened, ended = follow_up(now=now)
    if decided or reopened or ended:
        log.info("conflicts swept", by_policy=decided, reopened=reopened, proposals_ended=ended)


@shared_task(name="payments.notify")
def notify(**_later: Any) -> None:
    """Tell people of conflicts, and try again what did not arrive."""
    now = timezone.now()
    queued = collect.queue(now=now)
    collect.write_messages(every=settings.NOTIFY_EVERY, now=now)
    post = Post(private=settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE, tls=_authorities())
    became = send.send_due(post, clock=timezone.now)
    if queued or became:
        log.info("people told of conflicts", queued=queued, **became)


@shared_task(name="payments.poll")
def poll(**_later: Any) -> None:
    """Ask for payments that nobody has told us of, and for those that were only claimed."""
    now = timezone.now()
    reachable = asking.reachable(clock=timezone.now)
    if reachable:
        _log("payments asked for", polling.poll(reachable, now=now))
        _log("claims asked about", confirmations.confirm_held(reachable, now=now))
    handed_over = unanswered.hand_over(now=now)
    if handed_over:
        log.error("claims that nobody could confirm", handed_over=handed_over)


@shared_task(name="orders.expire_orders")
def expire_orders(**_later: Any) -> None:
    """Close the orders whose time has passed, when their providers know of no payment."""
    now = timezone.now()
    may_close = polling.BeforeClosing(asking.reachable(clock=timezone.now), now=now)
    closed = expire_due(now=now, may_close=may_close)
    if closed:
        log.info("orders_expired", closed=closed)


@functools.cache
def _authorities() -> ssl.SSLContext | None:
    """Whom to trust: it takes longer to read than to send a message, so once for each worker."""
    return Post.in_production(private=False).tls


def _log(what: str, answered: Counter[str]) -> None:
    if answered:
        log.info(what, **{answer.lower(): number for answer, number in answered.items()})
