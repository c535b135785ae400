"""How a person comes to an answer: where to look, and which way out fits which finding."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from payments.conflicts.facts import Facts
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import ConflictReason

_TOO_LITTLE: Final = _(
    "Too little came. Accept it if the rest is not worth asking for; else refund it, and the payer "
    "pays anew."
)
_TOO_MUCH: Final = _(
    "Too much came. Accept what is owed, and the excess goes back; or refund all of it, and the "
    "payer pays anew."
)
#: While a payment is held or waits. Of another amount there are two kinds.
OF_MONEY: Final[Mapping[str, Any]] = {
    ConflictReason.CURRENCY_MISMATCH: _(
        "Nothing is converted here. Refund it, and the payer pays anew in the order's currency; or "
        "match it to an order that costs just this."
    ),
    ConflictReason.MERCHANT_MISMATCH: _(
        "Is the account that it came through yours, and may this order be paid there? Then accept "
        "it; else refund it."
    ),
    ConflictReason.LATE_PAYMENT: _("Can you still deliver? Accept it. If not, refund it."),
    ConflictReason.DUPLICATE_PAYMENT: _(
        "The payer paid the same thing twice: refund this one; the order keeps its first payment. "
        "It was meant for another order: match it to that."
    ),
    ConflictReason.ORDER_NOT_FOUND: _(
        "Look for an order over the same amount, perhaps with a slip in its number: match it to "
        "that. The order is still to come: dismiss, and the payment goes on waiting for it. Nobody "
        "knows what it was for: refund it."
    ),
    ConflictReason.PERHAPS_TOLD_TWICE: _(
        "Compare both numbers on the provider's own pages. One payment: mark this as not ours, and "
        "the order stays paid. Two payments: refund this one. To refund the one payment would give "
        "back what the order was paid with."
    ),
}
#: What is asked about has happened already, or was not done: what is left is to find out why.
OF_OTHERS: Final[Mapping[str, Any]] = {
    ConflictReason.TRANSACTION_ALTERED: _(
        "The books keep what was told first, and nothing of the second was applied. Look the "
        "payment up at the provider; then dismiss this, and write down what you found."
    ),
    ConflictReason.PAYMENT_NOT_FOUND: _(
        "It is counted when its payment comes. Look that up at the provider; then dismiss this, "
        "and write down what you found."
    ),
    ConflictReason.EXTERNAL_REFUND: _(
        "It is counted already. Ask those who may refund on the provider's own pages; then dismiss "
        "this, and write down who it was."
    ),
    ConflictReason.REFUND_REVERSED: _(
        "Look the refund up at the provider. If the payer has no money, pay him another way; then "
        "dismiss this, and write down how."
    ),
    ConflictReason.REFUND_IN_DOUBT: _(
        "Ask the provider first, which sends nothing again. If it does not know, look at its own "
        "pages; then dismiss this, and write down what you found."
    ),
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: _(
        "No more than the payment is counted as gone back. Look at the provider for what its "
        "refunds and disputes add up to; then dismiss this, and write down what you found."
    ),
    ConflictReason.UNCONFIRMED_PAYMENTS: _(
        "Compare the claims with the payments on the provider's own pages. What was paid will come "
        "as a callback; then dismiss this."
    ),
    ConflictReason.UNKNOWN_KEY: _(
        "Look up the provider's present key, and have it added to the account by those who run "
        "this service; then dismiss this."
    ),
}


def of(facts: Facts) -> str:
    """A few plain words for whoever has to answer; empty when there is nothing to decide."""
    if facts.status not in UNDECIDED:
        return ""
    money = facts.money
    if money is None or not money.is_undecided:
        return str(OF_OTHERS.get(facts.reason, ""))
    if facts.reason == ConflictReason.AMOUNT_MISMATCH and facts.order is not None:
        is_less = money.amount_minor < facts.order.amount_minor
        return str(_TOO_LITTLE if is_less else _TOO_MUCH)
    return str(OF_MONEY.get(facts.reason, ""))
