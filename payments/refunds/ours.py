"""Find the refund of ours that a callback tells of."""

from django.db.models import Q

from payments.callback import Callback
from payments.models import ProviderTransaction, Refund, TransactionKind


def find(callback: Callback, *, account_id: int) -> Refund | None:
    """By our number, or the provider's for it; as committed now."""
    named = Q()
    if callback.refund_no:
        named |= Q(refund_no=callback.refund_no)
    if not callback.cumulative:
        named |= Q(provider_refund_no=callback.txn_no)
    if not named:
        return None
    # Ours first: the provider's number may be another refund's only by a fault.
    found = list(Refund.objects.filter(named, account_id=account_id).order_by("pk")[:2])
    by_number = [refund for refund in found if refund.refund_no == callback.refund_no]
    refund = next(iter([*by_number, *found]), None)
    return None if refund and _is_of_another_payment(callback, refund) else refund


def _is_of_another_payment(callback: Callback, refund: Refund) -> bool:
    """Whether it names a payment that we know and that is not the refund's: so it is not ours."""
    named = ProviderTransaction.objects.filter(
        account_id=refund.account_id, kind=TransactionKind.PAYMENT, txn_no=callback.reverses
    )
    return bool(callback.reverses) and named.exclude(pk=refund.payment_id).exists()


def lock(refund: Refund) -> Refund:
    """The refund, which is ours until the transaction ends; its payment is locked before."""
    return Refund.objects.select_for_update(no_key=True).get(pk=refund.pk)
