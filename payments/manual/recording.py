"""Mark an order as paid outside of any provider: one guarded transition, kept in the audit.

Up to the merchant's amount one person does it; above, another approves exactly what he proposed.
A callback that comes at the same time and a second click find the order taken.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext_noop as _

from audit import chain
from idempotency.deadlocks import retry_deadlocks
from orders import lookup
from orders.lookup import OwedOrder
from orders.models import Order
from payments.conflicts import four_eyes, people
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NoReason, NotAllowed, Refused
from payments.manual import lifecycle
from payments.models import WHY_LENGTH_MAX, ManualPayment, ManualStatus
from payments.policies.current import rules_of
from payments.saying import says

RECORD: Final = "payments.record_payment"


class NoSuchPayment(LookupError):
    """There is no such order, or no such manual payment."""


def record(order_id: int, *, note: str, seen: int, person: Person, now: datetime) -> ManualPayment:
    """Say that the order was paid in full, on its version that was `seen`.

    Returns it booked, or waiting for another person. Raises NoSuchPayment, and a Refused:
    NotAllowed, DoesNotFit, NoReason; the audit keeps the attempt.
    """
    order = Order.objects.select_related("merchant").filter(pk=order_id).first()
    if order is None:
        raise NoSuchPayment(f"there is no order {order_id}")
    return _kept(order, person, partial(_record, order, note, seen, person, now))


def approve(payment_id: int, *, person: Person, now: datetime) -> ManualPayment:
    """Book what another has proposed, if the order is as it was seen; raises as `record`."""
    order = _known(payment_id).order
    return _kept(order, person, partial(_approve, payment_id, person, now))


def decline(payment_id: int, *, why: str, person: Person, now: datetime) -> ManualPayment:
    """Withdraw one's own that waits, or reject another's; raises as `record`."""
    order = _known(payment_id).order
    return _kept(order, person, partial(_decline, payment_id, why, person, now))


@transaction.atomic(durable=True)
def _record(order: Order, note: str, seen: int, person: Person, now: datetime) -> ManualPayment:
    people.must_hold(person, RECORD)
    owed = _held(order, seen)
    if not note.strip():
        raise NoReason
    if ManualPayment.objects.filter(order=order, status=ManualStatus.PROPOSED).exists():
        raise DoesNotFit(
            says(
                _("A payment of order %(order)s waits for approval already."), order=order.order_no
            )
        )
    money = owed.money
    made = ManualPayment(
        order=order,
        order_version=seen,
        amount_minor=money.amount_minor,
        currency=money.currency,
        note=note.strip()[:WHY_LENGTH_MAX],
        needs_two=money.amount_minor > rules_of(order.merchant_id).alone_up_to(money.currency),
        proposed_by_id=person.user_id,
        proposed_at=now,
    )
    if not made.needs_two:
        made.transaction_id = lifecycle.book(owed, order.merchant, now=now)
        made.status, made.decided_by_id = ManualStatus.BOOKED, person.user_id
        made.decided_at = now
    made.save(force_insert=True)
    action = "proposed" if made.needs_two else "booked"
    _enter(f"manual_payment.{action}", made, person, why=made.note)
    return made


@transaction.atomic(durable=True)
def _approve(payment_id: int, person: Person, now: datetime) -> ManualPayment:
    people.must_hold(person, four_eyes.APPROVE)
    known = _known(payment_id)
    owed = _held(known.order, known.order_version)
    waiting = _waiting(payment_id)
    if waiting.proposed_by_id == person.user_id:
        raise NotAllowed(
            says(_("%(who)s proposed it: another person must approve it."), who=person.name)
        )
    row_id = lifecycle.book(owed, waiting.order.merchant, now=now)
    lifecycle.end(waiting, ManualStatus.BOOKED, person, now=now, transaction_id=row_id)
    _enter("manual_payment.booked", waiting, person, why=waiting.note)
    return waiting


@transaction.atomic(durable=True)
def _decline(payment_id: int, why: str, person: Person, now: datetime) -> ManualPayment:
    waiting = _waiting(payment_id)
    is_own = waiting.proposed_by_id == person.user_id
    people.must_hold(person, RECORD if is_own else four_eyes.APPROVE)
    if not why.strip():
        raise NoReason
    status = ManualStatus.WITHDRAWN if is_own else ManualStatus.REJECTED
    lifecycle.end(waiting, status, person, now=now, why=why.strip()[:WHY_LENGTH_MAX])
    _enter(f"manual_payment.{status.lower()}", waiting, person, why=why)
    return waiting


def _held(order: Order, seen: int) -> OwedOrder:
    """The order, locked, if it waits as it was seen. Raises DoesNotFit."""
    owed = lookup.find_locked(order.merchant_id, order.order_no)
    assert owed is not None  # noqa: S101 - orders are never deleted
    lifecycle.must_wait(owed)
    version = Order.objects.values_list("version", flat=True).get(pk=order.pk)
    if version != seen:
        raise DoesNotFit(
            says(_("Order %(order)s has moved since: look at it again."), order=order.order_no)
        )
    return owed


def _waiting(payment_id: int) -> ManualPayment:
    """One that waits, locked. Raises DoesNotFit."""
    rows = ManualPayment.objects.select_for_update(no_key=True, of=("self",))
    row = rows.select_related("order__merchant", "decided_by").get(pk=payment_id)
    if row.status != ManualStatus.PROPOSED:
        by = row.decided_by.get_username() if row.decided_by else says(_("nobody"))
        raise DoesNotFit(says(_("It is %(status)s, by %(who)s."), status=row.status, who=by))
    return row


def _known(payment_id: int) -> ManualPayment:
    rows = ManualPayment.objects.select_related("order__merchant")
    row = rows.filter(pk=payment_id).first()
    if row is None:
        raise NoSuchPayment(f"there is no manual payment {payment_id}")
    return row


def _kept(order: Order, person: Person, work: Callable[[], ManualPayment]) -> ManualPayment:
    try:
        return retry_deadlocks(work)
    except Refused as refusal:
        said: dict[str, Any] = {"refusal": type(refusal).__name__, "says": refusal.kept}
        chain.record(
            by=person.actor,
            action="manual_payment.refused",
            object_type="order",
            object_id=order.pk,
            after=said,
        )
        raise


def _enter(action: str, made: ManualPayment, person: Person, *, why: str) -> None:
    chain.record(
        by=person.actor,
        action=action,
        object_type="order",
        object_id=made.order.pk,
        before={"version": made.order_version},
        after={
            "status": str(made.status),
            "amount_minor": made.amount_minor,
            "currency": made.currency,
            "proposed_by": made.proposed_by_id,
        },
        why=why,
    )
