"""Find the payment that a callback says money went back of."""

from typing import Final

from django.db import connection

from payments.callback import Callback
from payments.models import ProviderTransaction, Refund
from payments.refunds import room
from payments.settle import Payee

# By number, in the order in which the numbers are trusted; else by the order that it paid.
_BY_NUMBER_SQL: Final = """
    SELECT id FROM payments_providertransaction
     WHERE account_id = %s AND kind = 'PAYMENT' AND txn_no = ANY(%s)
  ORDER BY array_position(%s::varchar[], txn_no) LIMIT 1
"""
_BY_ORDER_SQL: Final = """
    SELECT t.id FROM orders_order o JOIN payments_providertransaction t ON t.order_id = o.id
     WHERE o.merchant_id = %s AND o.order_no = %s AND t.account_id = %s
       AND t.kind = 'PAYMENT' AND t.disposition = 'APPLIED'
"""


def find(
    callback: Callback, payee: Payee, *, account_id: int, refund: Refund | None = None
) -> ProviderTransaction | None:
    """The payment that is reversed, locked; None if we do not know it (yet)."""
    if refund is not None:
        return room.lock(refund.payment_id)
    numbers = [callback.reverses] if callback.reverses else [*callback.linked_nos, callback.txn_no]
    with connection.cursor() as cursor:
        cursor.execute(_BY_NUMBER_SQL, [account_id, numbers, numbers])
        row = cursor.fetchone()
        if row is None and not callback.reverses and callback.order_no:
            cursor.execute(_BY_ORDER_SQL, [payee.merchant_id, callback.order_no, account_id])
            row = cursor.fetchone()
    return None if row is None else room.lock(row[0])
