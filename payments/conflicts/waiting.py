"""Proposals that wait for a second person, each with the state that it would meet now."""

from collections.abc import Iterable, Mapping
from typing import Final

from django.utils import translation

from orders.models import Order
from payments.conflicts.options import option
from payments.conflicts.seen import Held, Seen
from payments.models import Proposal, ProposalStatus, Resolution
from payments.saying import in_english

#: What `present` reads of each proposal.
RELATED = ("conflict__merchant", "conflict__transaction__account", "conflict__order")

#: The language of what is kept.
_KEPT_IN: Final = "en"


def present(proposals: Iterable[Proposal]) -> dict[int, Seen]:
    """What each that waits rests on, as it is now, by its key; what has ended is left out.

    At most one question for all of them, if they came with RELATED.
    """
    waiting = [row for row in proposals if row.status == ProposalStatus.PENDING]
    targets = _targets(waiting)
    return {row.pk: _held(row, targets).seen for row in waiting}


def told(proposals: Iterable[Proposal]) -> dict[int, str]:
    """What each would do, by its key, in the reader's language.

    What is kept is English, and is told as it is where the state has moved or the proposal ended.
    """
    rows = list(proposals)
    kept = {row.pk: row.consequence for row in rows}
    if translation.get_language() == _KEPT_IN:
        return kept
    waiting = [row for row in rows if row.status == ProposalStatus.PENDING]
    targets = _targets(waiting)
    for row in waiting:
        now = option(Resolution(row.resolution), _held(row, targets).facts).consequence
        if in_english(now) == row.consequence:
            kept[row.pk] = now
    return kept


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
