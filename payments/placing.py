"""What payments do about an order that was just placed, in its transaction."""

from datetime import datetime

from orders.models import Order
from orders.place import NoSuchEndpoint
from payments import parked
from payments.models import ProviderAccount


def on_placed(order: Order, now: datetime) -> None:
    """Match the money that waits for it. Raises NoSuchEndpoint if nobody could ever pay it."""
    if order.payable_through and not _is_open(order):
        raise NoSuchEndpoint(
            f"This merchant has no active account {order.payable_through}: name one of its"
            " callback endpoints, or leave this out for any of them."
        )
    parked.apply_to(order, now)


def _is_open(order: Order) -> bool:
    provider, _, name = order.payable_through.partition("/")
    accounts = ProviderAccount.objects.filter(merchant_id=order.merchant_id, active=True)
    return accounts.filter(provider=provider, name=name).exists()
