"""What racers do with idempotency keys, as calls that another process can be handed."""

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import redis
from django.test import Client

from idempotency import leased
from idempotency.keys import Intent, Scope, intent
from idempotency.leased import Finding, Finished, RetryWithSameKey
from idempotency.lifecycle import Claim, Result
from idempotency.models import RecordStatus
from orders.models import Merchant

#: Answers of the provider's ledger and of ours.
RESULT = Result(201, b'{"refunded": true}', "R-1")


@dataclass(frozen=True)
class Answer:
    """What an HTTP call was answered."""

    status: int
    body: bytes
    replayed: bool


def post_order(
    headers: dict[str, str], key: str, order_no: str, amount_minor: int = 1099
) -> Answer:
    """Place an order over the API; repeat it as long as it is still running."""
    while (answer := post_order_once(headers, key, order_no, amount_minor)).status == 202:
        time.sleep(0.01)
    return answer


def post_order_once(
    headers: dict[str, str], key: str, order_no: str, amount_minor: int = 1099
) -> Answer:
    """Place an order over the API."""
    amount = {"amount_minor": amount_minor, "currency": "USD"}
    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    response = client.post(
        "/v1/orders",
        {"order_no": order_no, "amount": amount},
        content_type="application/json",
        headers=headers | {"Idempotency-Key": key},
    )
    replayed = response.headers.get("Idempotent-Replayed") == "true"
    return Answer(response.status_code, response.content, replayed)


def post_order_over_http(url: str, headers: dict[str, str], key: str, order_no: str) -> Answer:
    """Place an order at a server; repeat it as long as it is still running."""
    body = json.dumps({"order_no": order_no, "amount": {"amount_minor": 1099, "currency": "USD"}})
    given = headers | {"Idempotency-Key": key, "Content-Type": "application/json"}
    client = HTTPConnection(urlsplit(url).netloc, timeout=30)
    while True:
        client.request("POST", "/v1/orders", body, given)
        response = client.getresponse()
        replayed = response.headers.get("Idempotent-Replayed") == "true"
        answer = Answer(response.status, response.read(), replayed)
        if answer.status != 202:
            client.close()
            return answer
        time.sleep(0.05)


@dataclass(frozen=True)
class Refunder:
    """Refunds at a provider that executes whatever it is sent, as often as it is sent."""

    valkey_url: str
    name: str
    lease: timedelta = timedelta(0)

    def run(self, key: str = "k") -> str:
        """Refund under the key; the outcome's name and its answer."""
        outcome = leased.run(
            self.intent(key), work=self.work, recover=self.recover, lease=self.lease
        )
        result = getattr(outcome, "result", None)
        return f"{type(outcome).__name__} {result.body.decode() if result else ''}".strip()

    def intent(self, key: str) -> Intent:
        digest = hashlib.sha256(b"refund").digest()
        return intent(scope=Scope(self.name, "refund"), key=key, digest=digest)

    def work(self, intent: Intent, _claim: Claim) -> Finding:
        self._ledger.incr(self._entry(intent))
        return self._finished()

    def recover(self, intent: Intent, _claim: Claim) -> Finding | RetryWithSameKey:
        return self._finished() if self.executions(intent.key) else RetryWithSameKey()

    def executions(self, key: str = "k") -> int:
        """How often the provider has paid."""
        return int(self._ledger.get(self._entry(self.intent(key))) or 0)

    def _finished(self) -> Finished:
        return Finished(RecordStatus.SUCCEEDED, RESULT, self._rows)

    def _rows(self) -> None:
        """The business row: a second one would violate its unique code."""
        Merchant.objects.create(code=self.name, name="refunded")

    @property
    def _ledger(self) -> Any:
        return redis.Redis.from_url(self.valkey_url)

    def _entry(self, intent: Intent) -> str:
        return f"tests:{self.name}:{intent.key}"


@dataclass(frozen=True)
class SleepyRefunder(Refunder):
    """Falls asleep between the provider's answer and its record, as a paused process does."""

    def work(self, intent: Intent, claim: Claim) -> Finding:
        finding = super().work(intent, claim)
        self._ledger.set(f"tests:{self.name}:asleep", os.getpid())
        os.kill(os.getpid(), signal.SIGSTOP)
        return finding

    def sleeper(self) -> int | None:
        """The process that is asleep."""
        pid = self._ledger.get(f"tests:{self.name}:asleep")
        return None if pid is None else int(pid)


def with_clock_off_by(seconds: float, call: Callable[[], Any]) -> Any:
    """The call, in a process whose wall clock is wrong."""
    right = time.time
    time.time = lambda: right() + seconds
    try:
        return call()
    finally:
        time.time = right
