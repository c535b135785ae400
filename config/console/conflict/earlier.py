"""What was asked about the same order before."""

from django.db.models import Q
from django.utils.safestring import SafeString

from config.console import related
from payments.conflicts.seen import Held
from payments.models import Conflict, Delivery


def of(held: Held) -> SafeString | str:
    """Other conflicts of the order, also of one that nobody has placed; empty if there are none."""
    conflict = held.conflict
    about = Q(order=held.order) if held.order is not None else Q(pk__in=[])
    order_no = held.order.order_no if held.order else held.money.order_no if held.money else ""
    if order_no:
        told = Delivery.objects.filter(merchant=conflict.merchant_id, order_no=order_no)
        about |= Q(delivery__in=told.values("pk"))
    others = Conflict.objects.filter(about).exclude(pk=conflict.pk)
    return related.conflicts(others) if others.exists() else ""
