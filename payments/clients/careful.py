"""A client that raises nothing: what was not understood is UNKNOWN, and never REFUSED."""

from datetime import date

from orders.money import NotMoney
from orders.strict_json import StrictJsonError
from payments.callback import Invalid
from payments.clients.port import (
    Answer,
    Client,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.clients.wire import Impossible, NoReply

#: What a provider's client raises for what the provider or the network does; none quotes a secret.
_NOT_UNDERSTOOD = (NoReply, StrictJsonError, NotMoney, Invalid)


class Careful:
    """A provider's client with its errors made answers."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """What the client answers, or UNKNOWN and why."""
        try:
            return self._client.query_payment(txn_no=txn_no, order_no=order_no)
        except (*_NOT_UNDERSTOOD, Impossible) as error:
            return PaymentAnswer(answer=Answer.UNKNOWN, why=str(error))

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """What the client answers; UNKNOWN and why; REFUSED for what could not even be asked."""
        try:
            return self._client.refund(order)
        except Impossible as error:
            return RefundAnswer(answer=Answer.REFUSED, why=str(error))
        except _NOT_UNDERSTOOD as error:
            return RefundAnswer(answer=Answer.UNKNOWN, why=str(error))

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """What the client answers, or UNKNOWN and why."""
        try:
            return self._client.query_refund(order, provider_refund_no=provider_refund_no)
        except (*_NOT_UNDERSTOOD, Impossible) as error:
            return RefundAnswer(answer=Answer.UNKNOWN, why=str(error))

    def fetch_statement(self, business_date: date) -> bytes:
        """What the client fetches. Raises StatementUnavailable."""
        try:
            return self._client.fetch_statement(business_date)
        except (*_NOT_UNDERSTOOD, Impossible) as error:
            raise StatementUnavailable(str(error)) from None
