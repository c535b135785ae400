"""A conflict of each reason, each opened by what opens such a one."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from payments import key_alarm, unanswered
from payments.accounts import find_endpoint
from payments.callback import Callback, Kind
from payments.models import Conflict, ConflictReason, ProviderAccount
from payments.refunds import carry_out, sweep
from tests.factories import ConfirmationFactory
from tests.payments.conflicts import deciding
from tests.payments.refunds.asking import ask, paid_order
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one


def in_doubt(account: ProviderAccount) -> Conflict:
    return deciding.in_doubt(account, ProviderDouble(loses_reply=True))


def told_twice(account: ProviderAccount) -> Conflict:
    """A checkout's session and a payment, which do not name each other."""
    deciding.order_of(account)
    for number in ("cs_A", "pi_A"):
        tell_one(account, callback(txn_no=number))
    return Conflict.objects.latest("pk")


def refund_of_nothing(account: ProviderAccount) -> Conflict:
    tell_one(account, _refund("re_1", 500, reverses="pi_nobodys"))
    sweep.sweep(now=NOW, grace=timedelta(0))
    return Conflict.objects.latest("pk")


def exceeding(account: ProviderAccount) -> Conflict:
    paid_order(account)
    tell_one(account, _refund("re_1", 15_000))
    return Conflict.objects.latest("pk")


def given_back(account: ProviderAccount) -> Conflict:
    """A refund that had succeeded fails."""
    paid_order(account)
    ask(account, "R-1")
    carry_out.carry_out(ProviderDouble(), now=NOW)
    failed = _refund("re_R-1", 10_000, Kind.REFUND_FAILED)
    tell_one(account, failed)
    return Conflict.objects.latest("pk")


def unconfirmed(account: ProviderAccount) -> Conflict:
    ConfirmationFactory.create(account=account, txn_no="tr_1", waiting_since=NOW)
    unanswered.hand_over(now=NOW + unanswered.HAND_OVER_AFTER)
    return Conflict.objects.latest("pk")


def unknown_key(account: ProviderAccount) -> Conflict:
    endpoint = find_endpoint(account.provider, account.name)
    assert endpoint is not None
    key_alarm.ask(endpoint, "PUB_KEY_ID_9", now=NOW)
    return Conflict.objects.latest("pk")


def _refund(
    number: str, amount_minor: int, kind: Kind = Kind.REFUNDED, reverses: str = "pi_1001"
) -> Callback:
    return callback(
        kind, txn_no=number, amount_minor=amount_minor, reverses=reverses, order_no=None
    )


CAUSES: Final[Mapping[ConflictReason, Callable[[ProviderAccount], Conflict]]] = {
    ConflictReason.AMOUNT_MISMATCH: deciding.mismatch,
    ConflictReason.CURRENCY_MISMATCH: deciding.currency,
    ConflictReason.MERCHANT_MISMATCH: deciding.merchant,
    ConflictReason.TRANSACTION_ALTERED: deciding.altered,
    ConflictReason.LATE_PAYMENT: deciding.late,
    ConflictReason.DUPLICATE_PAYMENT: deciding.duplicate,
    ConflictReason.ORDER_NOT_FOUND: deciding.parked,
    ConflictReason.PAYMENT_NOT_FOUND: refund_of_nothing,
    ConflictReason.EXTERNAL_REFUND: deciding.external,
    ConflictReason.REFUND_REVERSED: given_back,
    ConflictReason.REFUND_IN_DOUBT: in_doubt,
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: exceeding,
    ConflictReason.PERHAPS_TOLD_TWICE: told_twice,
    ConflictReason.UNCONFIRMED_PAYMENTS: unconfirmed,
    ConflictReason.UNKNOWN_KEY: unknown_key,
}
