"""Counting what a merchant uses, as a call that another process can be handed."""

from rest_framework.exceptions import Throttled

from orders.api.limits import count_new_key
from orders.models import Merchant


def count_keys(merchant: Merchant, number: int) -> int:
    """Count so many new keys; how many of them were within the quota."""
    accepted = 0
    for _ in range(number):
        try:
            count_new_key(merchant)
        except Throttled:
            continue
        accepted += 1
    return accepted
