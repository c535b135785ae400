"""Stripe's API as its documentation shows it."""

from typing import Any, Final
from urllib.parse import parse_qs

from tests.clients.servers.base import Answered, FakeApi, Payment, Refund, Request, as_json

SECRET: Final = "sk_test_clients_4eC39HqLyjWDarjtT1zdp7dc"
PAID_AT: Final = 1767225594


def _error(status: int, kind: str, code: str | None) -> Answered:
    error = {"type": kind, "message": "Jane Doe's card cannot be refunded", "param": "amount"}
    return as_json(status, {"error": {**error, **({"code": code} if code else {})}})


_MISSING: Final = _error(404, "invalid_request_error", "resource_missing")


class StripeApi(FakeApi):
    refund_prefix = "re_"
    page_size = 2

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, tuple[bytes, Answered]] = {}

    def answer(self, request: Request) -> Answered:
        if request.headers.get("authorization") != f"Bearer {SECRET}":
            self.complain("authorization")
            return _error(401, "invalid_request_error", None)
        if request.headers.get("stripe-version") != "2024-06-20":
            self.complain("version")
        if request.method == "POST" and request.path == "/v1/refunds":
            return self._create(request)
        return self._get(request)

    def _create(self, request: Request) -> Answered:
        key = request.headers.get("idempotency-key", "")
        if request.headers.get("content-type") != "application/x-www-form-urlencoded" or not key:
            self.complain("a refund without a key or not as a form")
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        if key in self.keys:
            body, answered = self.keys[key]
            same = body == request.body
            return answered if same else _error(400, "idempotency_error", None)
        payment = self.payments.get(form["payment_intent"])
        if payment is None:
            return _error(404, "invalid_request_error", "resource_missing")
        no, amount = form["metadata[refund_no]"], form["amount"]
        if self.refuses(payment, no):
            by_type = self.refusal == "idempotency_error"
            kind = self.refusal if by_type else "invalid_request_error"
            return _error(400, kind, None if by_type else self.refusal)
        refund = self.execute(payment, no, amount, payment.currency, key=key)
        answered = as_json(200, self._refund(refund, payment))
        self.keys[key] = (request.body, answered)
        return answered

    def _get(self, request: Request) -> Answered:
        listed = self._list(request)
        if listed is not None:
            return self._page(listed, request)
        thing, _, number = request.path.removeprefix("/v1/").partition("/")
        payments = self.payments.values()
        found: list[Any] = [
            self._refund(refund, payment)
            for payment in payments
            for refund in (self.visible(payment) if thing == "refunds" else [])
            if refund.number == number
        ]
        if thing == "payment_intents":
            found = [self._intent(each) for each in payments if each.txn_no == number]
        if thing == "charges":
            found = [self._charge(each) for each in payments if each.txn_no[3:] == number[3:]]
        return as_json(200, found[0]) if found else _MISSING

    def _list(self, request: Request) -> list[Any] | None:
        match request.path:
            case "/v1/refunds":
                payment = self.payments.get(request.query["payment_intent"])
                seen = self.visible(payment) if payment else []
                return [self._refund(each, payment) for each in reversed(seen) if payment]
            case "/v1/payment_intents/search":
                words = request.query["query"]
                found = [p for p in self.payments.values() if f":'{p.order_no}'" in words]
                return [self._intent(each) for each in reversed(found)]
            case "/v1/balance_transactions":
                return [{"id": f"txn_{number}", "amount": 1099} for number in range(3)]
            case _:
                return None

    def _page(self, entries: list[Any], request: Request) -> Answered:
        after = request.query.get("starting_after")
        ids = [entry["id"] for entry in entries]
        start = ids.index(after) + 1 if after else 0
        page = entries[start : start + self.page_size]
        more = start + self.page_size < len(entries)
        return as_json(200, {"object": "list", "data": page, "has_more": more})

    def _charge(self, payment: Payment) -> dict[str, Any]:
        return {
            "id": f"ch_{payment.txn_no[3:]}",
            "object": "charge",
            "amount": int(payment.amount),
            "amount_captured": int(payment.amount),
            "captured": True,
            "currency": payment.currency.lower(),
            "livemode": False,
            "metadata": {"order_id": payment.order_no},
            "paid": True,
            "payment_intent": payment.txn_no,
            "status": "succeeded",
        }

    def _refund(self, refund: Refund, payment: Payment) -> dict[str, Any]:
        return {
            "id": refund.number,
            "object": "refund",
            "amount": int(refund.amount),
            "currency": refund.currency.lower(),
            "payment_intent": payment.txn_no,
            "status": refund.status,
            "metadata": {"refund_no": refund.refund_no},
        }

    def _intent(self, payment: Payment) -> dict[str, Any]:
        states = {"paid": "succeeded", "open": "requires_payment_method", "closed": "canceled"}
        paid = payment.state == "paid"
        charge = {"id": f"ch_{payment.txn_no[3:]}", "object": "charge", "created": PAID_AT}
        return {
            "id": payment.txn_no,
            "object": "payment_intent",
            "amount": int(payment.amount),
            "amount_received": int(payment.amount) if paid else 0,
            "currency": payment.currency.lower(),
            "created": PAID_AT - 60,
            "livemode": False,
            "latest_charge": charge if paid else None,
            "metadata": {"order_id": payment.order_no},
            "status": states[payment.state],
        }
