"""Compare the orders, one by one: what paid them, and what of that has gone back."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from config.simulator.our_rows import OurRows
from config.simulator.predicted import Payment
from orders.models import PAID_STATUSES, Order
from payments.models import Disposition, ProviderTransaction


def compare(books: Mapping[str, Payment], ours: OurRows) -> Iterator[str]:
    """What of each order cannot be, whatever is still asked or on its way."""
    by_order = defaultdict[str, list[ProviderTransaction]](list)
    for row in ours.payments.values():
        by_order[row.order_no].append(row)
        is_silent = row.disposition == Disposition.HELD and row.pk not in ours.asked_about
        if is_silent and _was_paid(books, row.txn_no):
            yield f"payment {row.txn_no} of order {row.order_no} is HELD, and nobody was asked"
    for order in ours.orders.values():
        yield from _compare(order, by_order[order.order_no], books, ours)


def _compare(
    order: Order,
    rows: Sequence[ProviderTransaction],
    books: Mapping[str, Payment],
    ours: OurRows,
) -> Iterator[str]:
    applied = [row for row in rows if row.disposition == Disposition.APPLIED]
    name, number = f"order {order.order_no}", order.paid_txn_no
    if len(applied) > 1:
        yield f"{name} was paid by {len(applied)} payments"
    if order.status not in PAID_STATUSES or number in ours.elsewhere:
        return
    if not _was_paid(books, number):
        yield f"{name} is {order.status} by {number}, which was never paid"
    for row in applied:
        if order.refunded_minor != row.refunded_minor:
            yield (
                f"{name} has {order.refunded_minor} refunded, and its payment {row.refunded_minor}"
            )


def _was_paid(books: Mapping[str, Payment], number: str) -> bool:
    return number in books and books[number].itself.status == "succeeded"
