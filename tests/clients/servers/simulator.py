"""The provider simulator itself, with the troubles that all servers here have."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from config.simulator.accounts import Account
from config.simulator.app import App
from config.simulator.store import Store
from config.simulator.wire import Reply
from config.simulator.wire import Request as Asked
from tests.clients.servers.base import Answered, FakeApi, Request

SECRET: Final = "sim-clients-test-5rVbq9LxTz2nWk8Y"
_LATER: Final = datetime(2026, 1, 2, tzinfo=UTC)
_STAMP: Final = "2026-01-01T00:00:00.000Z"
_STATES: Final = {"paid": "succeeded", "open": "pending", "closed": "failed"}


class SimulatorApi(FakeApi):
    def __init__(self) -> None:
        super().__init__()
        account = Account(
            account_no="sim-acme",
            name="try",
            callback_url="http://127.0.0.1:9/",
            signing_secret=b"signing-secret-of-the-tests",
            api_keys=(SECRET.encode(),),
        )
        self._folder = tempfile.TemporaryDirectory()
        self._store = Store(Path(self._folder.name) / "books.sqlite3")
        self._app = App(self._store, lambda: [account], lambda: _LATER)

    def server_close(self) -> None:
        super().server_close()
        self._store.close()
        self._folder.cleanup()

    def answer(self, request: Request) -> Answered:
        self._take_payments()
        reply = self._ask(request, self._switches(request))
        if request.method == "POST" and self.new_status == "failed":
            self._store.run("UPDATE refunds SET status = 'failed'")
            reply = self._ask(request, "")
        rows = self._store.rows("SELECT * FROM refunds ORDER BY rowid")
        self.executed = [(r["refund_no"], str(r["amount_minor"]), r["currency"]) for r in rows]
        if reply.status == 401:
            self.complain("key")
        return Answered(reply.status, reply.body, {"Content-Type": reply.content_type})

    def _ask(self, request: Request, switches: str) -> Reply:
        headers = {**request.headers, "simulate": switches}
        return self._app.answer(
            Asked(
                method=request.method,
                path=request.path,
                query=request.query,
                headers=headers,
                body=request.body,
            )
        )

    def _switches(self, request: Request) -> str:
        if request.method == "POST":
            return "" if self.new_status == "succeeded" else "pending=60"
        if "/refunds/" in request.path and self.blind_for:
            self.blind_for -= 1
            return "not_found"
        return ""

    def _take_payments(self) -> None:
        self._store.run("DELETE FROM payments")
        for payment in self.payments.values():
            self._store.run(
                "INSERT INTO payments VALUES (?, 'sim-acme', ?, ?, ?, ?, ?, ?, ?, 0)",
                *(payment.txn_no, payment.txn_no, payment.order_no, int(payment.amount)),
                *(payment.currency, _STATES[payment.state], _STAMP, _STAMP),
            )
