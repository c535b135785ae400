"""Whether a second payment of an order may be the first one, told under another number.

A payment link or a subscription's checkout says that it was paid and does not name the payment;
the payment's own event does not name the link. No rule can tell that from a payer who paid twice.
"""

from typing import Final

from django.db import connection

from payments.providers import registry

_SAME_ACCOUNT_SQL: Final = """
    SELECT EXISTS (SELECT FROM payments_providertransaction t
                     JOIN payments_provideraccount a ON a.id = t.account_id
                    WHERE t.merchant_id = %s AND t.kind = 'PAYMENT' AND t.txn_no = %s
                      AND a.provider = %s AND a.name = %s)
"""


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
