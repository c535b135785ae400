"""Which rows belong to the story of an order, or of a conflict that has none."""

from typing import NamedTuple

from django.db.models import Q, QuerySet

from config.console import related
from orders.models import Order
from payments.models import Conflict, Delivery, Disposition, ProviderTransaction, Refund


class Story(NamedTuple):
    """The rows of each table, in no order."""

    money: QuerySet[ProviderTransaction]
    refunds: QuerySet[Refund]
    conflicts: QuerySet[Conflict]
    deliveries: QuerySet[Delivery]


def of_order(order: Order) -> Story:
    """All that was paid, told, asked and refunded about it."""
    delivered = Delivery.objects.filter(merchant_id=order.merchant_id, order_no=order.order_no)
    conflicts = Conflict.objects.filter(order=order)
    # Money that is held names no order of ours: its deliveries and conflicts lead to it.
    named = {
        *conflicts.values_list("transaction_id", flat=True)[: related.ROWS_MAX],
        *delivered.values_list("transaction_id", flat=True)[: related.ROWS_MAX],
    }
    parked = Q(merchant=order.merchant_id, order_no=order.order_no, disposition=Disposition.PARKED)
    money = ProviderTransaction.objects.filter(
        Q(order=order) | parked | Q(pk__in=[key for key in named if key is not None])
    )
    return Story(money, Refund.objects.filter(order=order), conflicts, delivered)


def of_conflict(conflict: Conflict) -> Story:
    """That of its order; without one what is known of its money."""
    if conflict.order is not None:
        return of_order(conflict.order)
    told = Q(pk__in=[conflict.delivery_id])
    about = Q(pk=conflict.pk)
    if conflict.transaction_id:
        told |= Q(transaction=conflict.transaction_id)
        about |= Q(transaction=conflict.transaction_id)
    return Story(
        ProviderTransaction.objects.filter(pk__in=[conflict.transaction_id]),
        Refund.objects.filter(payment__in=[conflict.transaction_id]),
        Conflict.objects.filter(about),
        Delivery.objects.filter(told),
    )
