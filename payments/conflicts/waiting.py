"""Proposals that wait for a second person, each with the state that it would meet now."""

from collections.abc import Iterable, Mapping

from orders.models import Order
from payments.conflicts.seen import Held, Seen
from payments.models import Proposal, ProposalStatus

#: What `present` reads of each proposal.
RELATED = ("conflict__merchant", "conflict__transaction", "conflict__order")


def present(proposals: Iterable[Proposal]) -> dict[int, Seen]:
    """What each that waits rests on, as it is now, by its key; what has ended is left out.

    At most one question for all of them, if they came with RELATED.
    """
    waiting = [row for row in proposals if row.status == ProposalStatus.PENDING]
    targets = _targets(waiting)
    return {row.pk: _held(row, targets).seen for row in waiting}


def _held(proposal: Proposal, targets: Mapping[tuple[int, str], Order]) -> Held:
    conflict = proposal.conflict
    return Held(
        conflict=conflict,
        money=conflict.transaction,
        order=conflict.order,
        target_no=proposal.order_no,
        target=targets.get((conflict.merchant_id, proposal.order_no)),
    )


def _targets(proposals: Iterable[Proposal]) -> dict[tuple[int, str], Order]:
    """The orders to match to, by merchant and number."""
    named = {(row.conflict.merchant_id, row.order_no) for row in proposals if row.order_no}
    if not named:
        return {}
    merchants, numbers = ({pair[place] for pair in named} for place in (0, 1))
    found = Order.objects.filter(merchant_id__in=merchants, order_no__in=numbers)
    return {(order.merchant_id, order.order_no): order for order in found}
