"""Whether a second payment of an order may be the first one, told under another number.

A payment link or a subscription's checkout says that it was paid and does not name the payment;
the payment's own event does not name the link. No rule can tell that from a payer who paid twice.
"""

from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db import connection

from payments.ledger import Payment
from payments.providers import registry

#: A checkout and its payment are told of within minutes; the times that they state are closer.
APART_MAX: Final = timedelta(hours=1)

_SAME_ACCOUNT_SQL: Final = """
    SELECT EXISTS (SELECT FROM payments_providertransaction t
                     JOIN payments_provideraccount a ON a.id = t.account_id
                    WHERE t.merchant_id = %s AND t.kind = 'PAYMENT' AND t.txn_no = %s
                      AND a.provider = %s AND a.name = %s)
"""


_TWIN_SQL: Final = """
    SELECT t.order_no, t.txn_no
      FROM payments_providertransaction t
      JOIN payments_provideraccount a ON a.id = t.account_id
     WHERE t.merchant_id = %(merchant)s AND t.kind = 'PAYMENT' AND t.disposition = 'APPLIED'
       AND a.provider = %(provider)s AND a.name = %(name)s AND t.txn_no LIKE %(prefix)s
       AND t.amount_minor = %(amount)s AND t.currency = %(currency)s
       AND t.occurred_at BETWEEN %(at)s - %(apart)s AND %(at)s + %(apart)s
  ORDER BY abs(extract(epoch FROM t.occurred_at - %(at)s)), t.id LIMIT 1
"""


class Twin(NamedTuple):
    """The order that was paid by what names no payment, and that one's number."""

    order_no: str
    txn_no: str


def twin(payment: Payment, merchant_id: int, endpoint: str) -> Twin | None:
    """What may be this payment told before, if it names no order itself: the nearest in time."""
    provider_name, _, name = endpoint.partition("/")
    provider = registry.find(provider_name)
    prefixes = provider.facts.nameless if provider else ()
    if payment.order_no or payment.txn_no.startswith(prefixes):
        return None
    for prefix in prefixes:
        values: dict[str, Any] = {
            "merchant": merchant_id,
            "provider": provider_name,
            "name": name,
            "prefix": prefix.replace("_", r"\_") + "%",
            "amount": payment.money.amount_minor,
            "currency": payment.money.currency,
            "at": payment.occurred_at,
            "apart": APART_MAX,
        }
        with connection.cursor() as cursor:
            cursor.execute(_TWIN_SQL, values)
            row = cursor.fetchone()
        if row is not None:
            return Twin(*row)
    return None


def may_be_one(merchant_id: int, endpoint: str, txn_no: str, paid_txn_no: str) -> bool:
    """Whether one of the two numbers is of something that names no payment, at one account.

    The caller has seen that the amounts are the same.
    """
    provider_name, _, name = endpoint.partition("/")
    provider = registry.find(provider_name)
    prefixes = provider.facts.nameless if provider else ()
    if txn_no.startswith(prefixes) == paid_txn_no.startswith(prefixes):
        return False
    with connection.cursor() as cursor:
        cursor.execute(_SAME_ACCOUNT_SQL, [merchant_id, paid_txn_no, provider_name, name])
        row = cursor.fetchone()
    return bool(row and row[0])
