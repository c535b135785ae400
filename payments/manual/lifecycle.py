"""The life of a manual payment, and the row of the ledger that it becomes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext_noop as _

from orders import paying
from orders.lookup import OwedOrder
from orders.models import Merchant, OrderStatus
from payments import ledger
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit
from payments.models import Disposition, ManualPayment, ManualStatus, ProviderAccount
from payments.saying import says

#: Each status, and the statuses it may be entered from; one person's is booked when it is made.
ENTERED_FROM: Final[Mapping[ManualStatus, frozenset[ManualStatus]]] = {
    ManualStatus.PROPOSED: frozenset(),
    ManualStatus.BOOKED: frozenset({ManualStatus.PROPOSED}),
    ManualStatus.REJECTED: frozenset({ManualStatus.PROPOSED}),
    ManualStatus.WITHDRAWN: frozenset({ManualStatus.PROPOSED}),
}
#: What stands in the ledger for a provider; there is none, so no callback can name it.
PROVIDER: Final = "manual"
_IS: Final = _("Order %(order)s is %(status)s.")
_PAID_BY: Final = _("Order %(order)s is %(status)s by %(txn)s.")


class NotThatStatus(RuntimeError):
    """A row was not in the status that this needs: a fault of ours; nothing is written."""


def must_wait(order: OwedOrder) -> None:
    """Raise DoesNotFit unless the order, which the caller holds, waits for its payment."""
    if order.status != OrderStatus.WAIT_PAY:
        named = {"order": order.order_no, "status": order.status, "txn": order.paid_txn_no}
        message = _PAID_BY if order.paid_txn_no else _IS
        raise DoesNotFit(says(message, **named))


def book(order: OwedOrder, merchant: Merchant, *, now: datetime) -> int:
    """Pay the order, which the caller holds, with a row of the ledger; returns its id.

    The number is made of the order's, and so unique: no order is paid so twice. Raises DoesNotFit.
    """
    must_wait(order)
    payment = ledger.Payment(
        txn_no=f"manual-{order.order_no}",
        order_no=order.order_no,
        stated_account_no="",
        money=order.money,
        occurred_at=now,
        occurred_at_is_stated=False,
    )
    row = ledger.insert(
        payment,
        account_id=_account(merchant),
        merchant_id=merchant.pk,
        order_id=order.id,
        disposition=Disposition.APPLIED,
        now=now,
    )
    if row is None:
        raise NotThatStatus(f"order {order.id} waits, and {payment.txn_no} has paid it")
    values: dict[str, Any] = {"merchant_code": merchant.code, "txn_no": payment.txn_no}
    if not paying.pay(order, **values, paid_at=now, now=now):
        raise NotThatStatus(f"order {order.id} is held and could not be paid")
    return row.id


def end(
    waiting: ManualPayment,
    status: ManualStatus,
    person: Person,
    *,
    now: datetime,
    why: str = "",
    transaction_id: int | None = None,
) -> None:
    """End one that the caller holds. Raises NotThatStatus."""
    allowed = [str(present) for present in ENTERED_FROM[status]]
    values = {
        "status": status,
        "decided_by_id": person.user_id,
        "decided_at": now,
        "decided_why": why,
        "transaction_id": transaction_id,
    }
    rows = ManualPayment.objects.filter(pk=waiting.pk, status__in=allowed)
    if rows.update(**values) != 1:
        raise NotThatStatus(f"manual payment {waiting.pk} cannot become {status}")
    for name, value in values.items():
        setattr(waiting, name, value)


def _account(merchant: Merchant) -> int:
    """The merchant's account for what no provider tells; not active, so nothing comes to it."""
    account, _made = ProviderAccount.objects.get_or_create(
        provider=PROVIDER,
        name=merchant.code,
        defaults={
            "merchant": merchant,
            "account_no": merchant.code,
            "live": True,
            "active": False,
        },
    )
    return account.pk
