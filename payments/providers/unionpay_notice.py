"""What UnionPay's notices mean, by ``txnType`` and ``respCode``.

``respCode`` 00 is success. A6 is success with a defect: pending until a query tells. Anything else
is a failure. ``txnAmt`` is in the minor unit of ``currencyCode`` (ISO 4217's number) and is
compared; ``settleAmt`` is what is settled. ``queryId`` is the transaction, ``origQryId`` the one
that it refunds or cancels. Times are Beijing's.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from payments.callback import Callback, Kind
from payments.providers.beijing_time import beijing_instant
from payments.providers.sorted_params import NotParams, ascii_required, ascii_text
from payments.providers.stated_money import AmountRule

_MINOR: Final = AmountRule("minor", {})
CURRENCIES: Final[Mapping[str, str]] = {
    "156": "CNY",
    "344": "HKD",
    "446": "MOP",
    "702": "SGD",
    "840": "USD",
    "978": "EUR",
}


class _Meaning(NamedTuple):
    done: Kind
    failed: Kind


_TYPES: Final[Mapping[str, _Meaning]] = {
    "01": _Meaning(Kind.PAID, Kind.FAILED),
    "02": _Meaning(Kind.AUTHORIZED, Kind.FAILED),
    "03": _Meaning(Kind.PAID, Kind.FAILED),
    "04": _Meaning(Kind.REFUNDED, Kind.REFUND_FAILED),
    "31": _Meaning(Kind.REFUNDED, Kind.REFUND_FAILED),
    "33": _Meaning(Kind.REFUNDED, Kind.REFUND_FAILED),
}
#: The same for people, by ``txnType``, then by ``respCode``.
MEANINGS: Final = {
    txn_type: {"00": meaning.done, "A6": Kind.PENDING, "others": meaning.failed}
    for txn_type, meaning in _TYPES.items()
}


def notice(params: Mapping[bytes, bytes]) -> Callback:
    """The callback. Raises NotParams, NotMoney or Invalid."""
    query_id, txn_type = ascii_required(params, "queryId"), ascii_required(params, "txnType")
    code = ascii_required(params, "respCode")
    meaning = _TYPES.get(txn_type)
    if meaning is None:
        return Callback(event_id=query_id, event_type=txn_type, kind=Kind.IGNORED)
    kind = {"00": meaning.done, "A6": Kind.PENDING}.get(code, meaning.failed)
    number = ascii_required(params, "currencyCode")
    if number not in CURRENCIES:
        raise NotParams(f"currencyCode is none of: {', '.join(CURRENCIES)}")
    money, words = _MINOR.money(ascii_required(params, "txnAmt"), CURRENCIES[number])
    original = ascii_text(params, "origQryId")
    return Callback(
        event_id=query_id,
        event_type=txn_type,
        kind=kind,
        txn_no=query_id,
        order_no=ascii_text(params, "orderId"),
        money=money,
        stated_amount=words,
        account_no=ascii_required(params, "merId"),
        occurred_at=beijing_instant(ascii_text(params, "txnTime")),
        linked_nos=(original,) if original else (),
        reverses=original or "",
    )
