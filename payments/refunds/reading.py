"""Read refunds, for the merchant whose they are."""

from django.db.models import Q

from orders.models import Merchant
from payments.models import Refund


def find(merchant: Merchant, refund_no: str) -> Refund | None:
    """The merchant's refund of that number, with its payment."""
    refunds = Refund.objects.select_related("payment", "order")
    return refunds.filter(merchant=merchant, refund_no=refund_no).first()


def of_order(
    merchant: Merchant, order_no: str, *, limit: int, before: str | None = None
) -> tuple[list[Refund], str | None]:
    """A page of an order's refunds, newest first, and where the next one begins, or None.

    `before` is a refund's number; a page begins where the last one ended, whatever was added.
    """
    refunds = Refund.objects.select_related("payment", "order").filter(
        Q(order__order_no=order_no) | Q(order=None, payment__order_no=order_no), merchant=merchant
    )
    if before is not None:
        last = refunds.filter(refund_no=before).values("pk")
        refunds = refunds.filter(pk__lt=last[:1])
    found = list(refunds.order_by("-pk")[: limit + 1])
    page = found[:limit]
    return page, page[-1].refund_no if len(found) > limit else None
