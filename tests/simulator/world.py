"""A shop, the service, and the simulator: everything that may happen, one step at a time.

Callbacks are delivered by the test, in any order and as often as it likes, signed and through the
service's own address. Refunds go through the client over HTTP.
"""

import itertools
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import connection
from django.test import Client

from config.simulator import callbacks, moves
from config.simulator.accounts import Account
from config.simulator.store import Row
from orders import closing
from orders.models import Order
from orders.money import Money
from orders.place import place
from payments import parked
from payments.models import ProviderAccount, ProviderTransaction, Refund
from payments.providers.hmac_sign import sign
from payments.providers.simulator import SCHEME
from payments.refunds.access import client_for
from payments.refunds.carry_out import carry_out
from payments.refunds.recover import recover
from payments.refunds.request import Asked, NotRefundable, RefundExceeds, request
from payments.sweep import sweep
from tests.factories import AccountKeyFactory, MerchantFactory, ProviderAccountFactory
from tests.simulator.running import SIGNING_SECRET, Simulator, account

_numbers = itertools.count(1)
#: As if all leases had ended and every pause had passed.
_TIME_PASSES_SQL = """
    UPDATE payments_refund
       SET lease_until = CASE WHEN status = 'PROCESSING' THEN clock_timestamp() END,
           due_at = CASE WHEN status = 'REQUESTED' THEN clock_timestamp() END
     WHERE status IN ('REQUESTED', 'PROCESSING') AND account_id = %s
"""


class World:
    """One merchant with one account, for one course of events."""

    def __init__(self, simulator: Simulator, accounts: list[Account]) -> None:
        self.simulator = simulator
        self.no = next(_numbers)
        self.account_no = f"sim-{self.no}"
        self.key = f"tests-only-simulator-api-{self.no}"
        self.merchant = MerchantFactory.create(code=f"world-{self.no}")
        self.row: ProviderAccount = ProviderAccountFactory.create(
            merchant=self.merchant,
            provider="simulator",
            name=f"world-{self.no}",
            account_no=self.account_no,
            live=False,
            settings={"api_url": simulator.url},
            secret=SIGNING_SECRET,
        )
        AccountKeyFactory.create(account=self.row, purpose="api", secret=self.key)
        self.path = f"/callbacks/simulator/world-{self.no}"
        accounts[:] = [account("http://127.0.0.1:9", self.account_no, self.row.name, self.key)]
        self._browser = Client()

    def end(self) -> None:
        """Nobody looks at this account any more."""
        ProviderAccount.objects.filter(pk=self.row.pk).update(active=False)

    # --- what the merchant does ---

    def place(self, order_no: str, amount_minor: int) -> None:
        place(
            merchant=self.merchant,
            order_no=order_no,
            money=Money(amount_minor, "USD"),
            expires_at=None,
            payable_through="",
            now=self.simulator.clock(),
            on_placed=parked.apply_to,
        )

    def close(self, order_no: str) -> None:
        with suppress(closing.NoSuchOrder, closing.NotClosable):
            closing.close(merchant=self.merchant, order_no=order_no, now=self.simulator.clock())

    def ask_refund(self, refund_no: str, payment: str, amount_minor: int | None) -> bool:
        """Ask for a refund of this payment; whether the service takes it on."""
        found = self.rows().filter(txn_no=payment).first()
        if found is None:
            return False
        money = None if amount_minor is None else Money(amount_minor, "USD")
        asked = Asked(
            order_no=found.order_no, refund_no=refund_no, money=money, payment=found.txn_no
        )
        try:
            request(merchant=self.merchant, asked=asked, now=self.simulator.clock())
        except (NotRefundable, RefundExceeds, LookupError):
            return False
        return True

    # --- what happens at the simulator ---

    def call(self, method: str, path: str, content: Any = None, **switches: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        http = self.simulator.http
        return http.request(method, path, json=content, params=switches, headers=headers).json()

    def pay(self, order_no: str, amount_minor: int, **switches: Any) -> str:
        content = {"order_no": order_no, "amount_minor": amount_minor, "currency": "USD"}
        return str(self.call("POST", "/api/payments", content, **switches)["payment"]["id"])

    def refund_by_hand(self, payment: str, amount_minor: int, **switches: Any) -> None:
        content = {"payment": payment, "amount_minor": amount_minor, "currency": "USD"}
        self.call("POST", "/api/refunds", content, **switches)

    def next_refund_goes(self, **switches: Any) -> None:
        self.call("PUT", "/api/scenarios/refund", {"switches": switches})

    def settle(self) -> None:
        """All that is pending at the simulator settles."""
        moves.make(self.simulator.store, now=self.simulator.clock() + timedelta(days=1))

    # --- what happens in between and in the service ---

    def unsent(self) -> list[Row]:
        return self.simulator.store.rows(
            "SELECT * FROM callbacks WHERE account = ? AND state = 'DUE' ORDER BY id",
            self.account_no,
        )

    def deliver(self, callback: Row, *, again: bool = False) -> None:
        """Send one callback; if `again` it will be sent once more."""
        now = self.simulator.clock()
        signed = sign(SCHEME, SIGNING_SECRET.encode(), callback["body"], now=now)
        answer = self._browser.post(
            self.path, callback["body"], content_type="application/json", headers=signed
        )
        assert (answer.status_code, answer.content) == (200, b"ok")
        if not again:
            callbacks.answered(self.simulator.store, callback, "200", done=True, now=now)

    def carry_out(self) -> None:
        carry_out(self._client_for, now=self.simulator.clock())

    def recover(self) -> None:
        """Time passes, and who was sent and not answered is asked about."""
        with connection.cursor() as cursor:
            cursor.execute(_TIME_PASSES_SQL, [self.row.pk])
        recover(self._client_for, now=self.simulator.clock(), window=timedelta(0))

    def heal(self) -> None:
        """Nothing goes wrong any more, and everything that is under way arrives."""
        for operation in ("refund", "query_refund"):
            self.call("PUT", f"/api/scenarios/{operation}", {"switches": {}})
        for _ in range(12):
            self.settle()
            for callback in self.unsent():
                self.deliver(callback)
            self.carry_out()
            self.recover()
            if not self.unsent() and not self.open_refunds():
                break
        sweep(now=self.simulator.clock(), grace=timedelta(days=1))

    def _client_for(self, row: ProviderAccount) -> Any:
        return client_for(row, now=self.simulator.clock())

    # --- what the service says of it ---

    def rows(self) -> Any:
        return ProviderTransaction.objects.filter(account=self.row, kind="PAYMENT")

    def open_refunds(self) -> int:
        open_ = Refund.objects.filter(account=self.row, status__in=["REQUESTED", "PROCESSING"])
        return open_.count()

    def orders(self) -> Any:
        return Order.objects.filter(merchant=self.merchant)
